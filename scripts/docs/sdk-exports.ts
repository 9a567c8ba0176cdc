/** Lists the SDK's exports beside the contract's shapes, read by the compiler: signatures and docstrings. */
import { join, resolve } from 'node:path';
import ts from 'typescript-js';

const ROOT = resolve(import.meta.dirname, '../..');
const SDK = join(ROOT, 'packages/sdk/src');
const FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

/** The reader of one program, with its checker. */
class Reader {
  readonly #checker: ts.TypeChecker;
  readonly #entry: ts.SourceFile;

  constructor() {
    const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
    const program = ts.createProgram([join(SDK, 'index.ts')], options);
    this.#checker = program.getTypeChecker();
    this.#entry = program.getSourceFile(join(SDK, 'index.ts')) as ts.SourceFile;
  }

  /** Exports that are declared in the SDK itself. */
  exports(): readonly { readonly name: string; readonly symbol: ts.Symbol; readonly node: ts.Declaration }[] {
    const module = this.#checker.getSymbolAtLocation(this.#entry) as ts.Symbol;
    return this.#checker.getExportsOfModule(module).flatMap((exported) => {
      const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? this.#checker.getAliasedSymbol(exported) : exported;
      const node = symbol.declarations?.[0];
      const isOwn = node?.getSourceFile().fileName.startsWith(SDK) === true;
      return isOwn ? [{ name: exported.name, symbol, node }] : [];
    });
  }

  /** The docstring, then what is thrown. */
  docOf(symbol: ts.Symbol): string {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    const tags = symbol.getJsDocTags(this.#checker).map(({ name, text: parts }) => {
      const said = ts.displayPartsToString(parts);
      if (name === 'throws') return `Throws ${said}`;
      if (name === 'returns') return `Returns ${said}`;
      if (name === 'param') return `\`${said.split(' ', 1)[0]}\`: ${said.slice(said.indexOf(' ') + 1)}`;
      return '';
    });
    return [text, ...tags]
      .map((one) => one.replaceAll(/\s*\n\s*/g, ' ').trim())
      .filter((one) => one !== '')
      .map((one) => (/[.!?:)]$/.test(one) ? one : `${one}.`))
      .join(' ');
  }

  signaturesOf(name: string, symbol: ts.Symbol, node: ts.Node): readonly string[] {
    const type = this.#checker.getTypeOfSymbolAtLocation(symbol, node);
    return type
      .getCallSignatures()
      .map((signature) => `${name}${this.#checker.signatureToString(signature, node, FORMAT)}`);
  }

  /** As it is written, where it is. */
  typeOf(symbol: ts.Symbol, node: ts.Node): string {
    if (ts.isPropertyDeclaration(node) || ts.isPropertySignature(node))
      if (node.type !== undefined) return node.type.getText().replaceAll(/\s+/g, ' ');
    return this.#checker.typeToString(this.#checker.getTypeOfSymbolAtLocation(symbol, node), node, FORMAT);
  }

  /** The names of a client method's arguments: its type makes them from the contract. */
  argumentsOf(method: string): string {
    const client = this.exports().find(({ name }) => name === 'ClientMethods');
    const property = client && this.#checker.getDeclaredTypeOfSymbol(client.symbol).getProperty(method);
    if (property === undefined) throw new Error(`the client has no method ${method}`);
    const [signature] = this.#checker.getTypeOfSymbol(property).getCallSignatures();
    const parameters = signature?.parameters ?? [];
    const [rest] = parameters;
    if (rest === undefined) return '';
    const tuple = this.#checker.getTypeOfSymbol(rest) as Partial<ts.TupleTypeReference>;
    // A method with a type of its own names its arguments itself.
    if (tuple.target === undefined)
      return parameters
        .map(({ name, valueDeclaration: at }) =>
          at !== undefined && ts.isParameter(at) && at.questionToken !== undefined ? `${name}?` : name,
        )
        .join(', ');
    const { target } = tuple;
    return (target.labeledElementDeclarations ?? [])
      .map((label, i) => {
        const isOptional = ((target.elementFlags[i] ?? 0) & ts.ElementFlags.Optional) !== 0;
        return `${label?.name.getText() ?? 'value'}${isOptional ? '?' : ''}`;
      })
      .join(', ');
  }

  symbolOf(node: ts.NamedDeclaration): ts.Symbol | undefined {
    return node.name === undefined ? undefined : this.#checker.getSymbolAtLocation(node.name);
  }
}

const isHidden = (node: ts.ClassElement | ts.TypeElement): boolean =>
  node.name === undefined ||
  !ts.isIdentifier(node.name) ||
  (ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true);

function membersOf(reader: Reader, node: ts.ClassDeclaration | ts.InterfaceDeclaration): string {
  return [...node.members]
    .filter((member) => !isHidden(member))
    .flatMap((member) => {
      const symbol = reader.symbolOf(member);
      if (symbol === undefined) return [];
      const isStatic =
        ts.canHaveModifiers(member) &&
        ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) === true;
      const name = `${isStatic ? `${node.name?.text}.` : ''}${symbol.name}`;
      const isOptional = (symbol.flags & ts.SymbolFlags.Optional) !== 0;
      const isMethod = ts.isMethodDeclaration(member);
      const shown = isMethod
        ? reader.signaturesOf(name, symbol, member)
        : [`${name}${isOptional ? '?' : ''}: ${reader.typeOf(symbol, member).replace(/ \| undefined$/, '')}`];
      const doc = reader.docOf(symbol);
      return shown.map((text) => `- \`${text}\`${doc === '' ? '' : `  \n  ${doc}`}`);
    })
    .join('\n');
}

function bodyOf(reader: Reader, name: string, symbol: ts.Symbol, node: ts.Declaration): string {
  if (ts.isFunctionDeclaration(node))
    return `\`\`\`ts\n${reader.signaturesOf(name, symbol, node).join('\n')}\n\`\`\``;
  if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node)) return membersOf(reader, node);
  if (ts.isTypeAliasDeclaration(node)) return `\`\`\`ts\n${node.getText()}\n\`\`\``;
  return '';
}

export interface SdkExports {
  /** Sections for functions, classes and errors, by name. */
  readonly values: string;
  readonly types: string;
  argumentsOf(method: string): string;
}

export function readSdkExports(): SdkExports {
  const reader = new Reader();
  const sections = reader.exports().map(({ name, symbol, node }) => ({
    name,
    isType: ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
    text: [`### ${name}`, reader.docOf(symbol), bodyOf(reader, name, symbol, node)]
      .filter((part) => part !== '')
      .join('\n\n'),
  }));
  const textOf = (isType: boolean): string =>
    sections
      .filter((one) => one.isType === isType)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ text }) => text)
      .join('\n\n');
  return { values: textOf(false), types: textOf(true), argumentsOf: (method) => reader.argumentsOf(method) };
}
