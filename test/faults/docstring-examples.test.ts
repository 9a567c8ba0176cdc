/** Every function that the SDK, the protocol and the contract export shows an example, and every example compiles. */
import { join, resolve } from 'node:path';
import ts from 'typescript-js';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Modules that users import, and what an example may take as given. */
const PACKAGES = {
  sdk: {
    modules: { '@bellwether/sdk': 'index.ts', '@bellwether/sdk/keystore': 'keystore/index.ts' },
    given: `
      declare const client: import('@bellwether/sdk').BellwetherClient;
      declare const signer: import('@bellwether/sdk').Signer;
      declare const market: import('@bellwether/sdk').Market;
      declare const order: import('@bellwether/sdk').TradeRequest;
      declare const intent: import('@bellwether/sdk').TradeIntent;
      declare const prepared: import('@bellwether/sdk').PreparedTrade;
      declare const credentials: import('@bellwether/sdk').VenueCredentials;
      declare const place: import('@bellwether/sdk/keystore').DeskPlace;
      declare const agentId: string, tokenId: string, secret: string, body: string, passphrase: string, apiKey: string;
      declare const headers: Readonly<Record<string, string | undefined>>;`,
  },
  protocol: {
    modules: { '@bellwether/protocol': 'index.ts' },
    given: `
      declare const owner: import('@bellwether/protocol').Address;
      declare const solana: import('@bellwether/protocol').SolanaAddress, mint: typeof solana;
      declare const program: typeof solana, tokenProgram: typeof solana;
      declare const fields: import('@bellwether/protocol').OrderFields;
      declare const extras: import('@bellwether/protocol').OrderExtras;
      declare const sent: import('@bellwether/protocol').SentOrder;
      declare const terms: import('@bellwether/protocol').QuoteTerms;
      declare const market: { readonly negRisk: boolean };
      declare const bytes: Uint8Array, message: Uint8Array, publicKey: Uint8Array, secretKey: Uint8Array;
      declare const secret32: Uint8Array, digest: Uint8Array, separator: Uint8Array, contentsHash: Uint8Array, inner: Uint8Array;
      declare const text: string, conditionId: string, signature: string, secret: string, agentId: string, base64: string;
      declare const headers: Readonly<Record<string, string | undefined>>;`,
  },
  contract: {
    modules: {
      '@bellwether/contract': 'index.ts',
      '@bellwether/contract/positions': 'positions.ts',
    },
    given: `
      declare const intent: import('@bellwether/contract').TradeIntent;
      declare const terms: import('@bellwether/contract').UnsignedTradeTerms;
      declare const entry: import('@bellwether/contract').ReceiptEntry;
      declare const fields: import('@bellwether/contract').ChallengeFields;
      declare const token: import('@bellwether/contract/positions').Token;
      declare const fills: readonly import('@bellwether/contract/positions').Fill[];
      declare const recent: Parameters<typeof import('@bellwether/contract/positions').mayBeLate>[2];
      declare const sha256: (text: string) => string;
      declare const received: string;`,
  },
} as const;
type PackageName = keyof typeof PACKAGES;

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  return { ...options, noUnusedLocals: false, noUnusedParameters: false };
}

interface Exported {
  readonly name: string;
  readonly module: string;
  readonly isFunction: boolean;
  readonly examples: readonly string[];
}

/** Exports of the package itself, each name once. */
function exportsOf(name: PackageName, options: ts.CompilerOptions): readonly Exported[] {
  const folder = join(ROOT, 'packages', name, 'src');
  const modules = Object.entries(PACKAGES[name].modules);
  const program = ts.createProgram(
    modules.map(([, file]) => join(folder, file)),
    options,
  );
  const checker = program.getTypeChecker();
  const found = new Map<string, Exported>();
  for (const [module, file] of modules) {
    const source = program.getSourceFile(join(folder, file)) as ts.SourceFile;
    for (const one of checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol)) {
      const isAlias = (one.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(one) : one;
      const { valueDeclaration: node } = symbol;
      if (node === undefined || found.has(one.name)) continue;
      const isOwn = node.getSourceFile().fileName.startsWith(folder);
      const calls = checker.getTypeOfSymbolAtLocation(symbol, node).getCallSignatures();
      const examples = symbol
        .getJsDocTags(checker)
        .filter((tag) => tag.name === 'example')
        .map((tag) => ts.displayPartsToString(tag.text));
      found.set(one.name, { name: one.name, module, isFunction: isOwn && calls.length > 0, examples });
    }
  }
  return [...found.values()];
}

/** As a module of its own that imports what it names. */
function moduleOf(example: string, exported: readonly Exported[]): string {
  const names = exported.filter(({ name }) =>
    new RegExp(`(?<![\\w']|[^.]\\.)${name}\\b(?!['\\w]|:)`).test(example),
  );
  const imports = names.map(({ name, module }) => `import { ${name} } from '${module}';`);
  return `${imports.join('\n')}\n${example}\nexport {};\n`;
}

/** @returns a sentence for each error */
function faultsIn(files: ReadonlyMap<string, string>, options: ts.CompilerOptions): readonly string[] {
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile.call(host, path, languageVersion, ...rest)
      : ts.createSourceFile(path, text, languageVersion, true);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files.keys()]
    .flatMap((path) => {
      const source = program.getSourceFile(path) as ts.SourceFile;
      return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    })
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}

const options = compilerOptions();

describe.each(Object.keys(PACKAGES) as PackageName[])('packages/%s', (name) => {
  const folder = join(ROOT, 'packages', name, 'src');
  const exported = exportsOf(name, options);
  const functions = exported.filter(({ isFunction }) => isFunction);

  test('every exported function has an example that calls it', () => {
    expect(functions.length).toBeGreaterThan(30);
    const without = functions.filter(
      (one) => !one.examples.some((example) => new RegExp(`\\b${one.name}\\b`).test(example)),
    );
    expect(without.map((one) => one.name)).toEqual([]);
  });

  test('every example compiles', () => {
    const files = new Map<string, string>([[join(folder, 'given.d.ts'), PACKAGES[name].given]]);
    for (const { name: of, examples } of functions)
      for (const [i, example] of examples.entries())
        files.set(join(folder, `example-${of}-${i}.ts`), moduleOf(example, exported));
    expect(faultsIn(files, options)).toEqual([]);
  });
});

test('an example that does not compile is named', () => {
  const folder = join(ROOT, 'packages/contract/src');
  const [of] = exportsOf('contract', options).filter(({ name }) => name === 'parseMicro');
  const files = new Map([[join(folder, 'wrong.ts'), moduleOf('parseMicro(true);', [of as Exported])]]);
  expect(faultsIn(files, options)).toEqual([expect.stringContaining('wrong.ts')]);
});
