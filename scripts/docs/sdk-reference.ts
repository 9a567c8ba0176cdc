/** docs/sdk-reference.md: the client's methods from the contract, everything else of the SDK from its docstrings. */
import type { Operation } from '@bellwether/contract';
import { BellwetherClient } from '@bellwether/sdk';
import { NOTE } from './markdown.ts';
import { OPERATIONS, routeOf } from './operations.ts';
import { readSdkExports, type SdkExports } from './sdk-exports.ts';
import { fieldsTable, shapeName, shapeSections } from './shapes.ts';

/** Made from the contract; what the client's own class declares, such as streams, is documented with the class. */
const METHODS: object = Object.getPrototypeOf(BellwetherClient.prototype);

function repeats({ method, repeatable }: Operation): string {
  return method === 'GET' || repeatable === true
    ? 'Repeated after a broken connection.'
    : 'Repeated after a broken connection only with an `idempotencyKey`.';
}

function methodSection(operation: Operation, named: Set<string>, sdk: SdkExports): string {
  const { id, summary, description, permission, query, body, response, errors } = operation;
  const input = query ?? body;
  return [
    `### ${id}`,
    `\`\`\`ts\nclient.${id}(${sdk.argumentsOf(id)})\n\`\`\``,
    [`${summary}.`, ...(description === undefined ? [] : [description])].join(' '),
    `\`${routeOf(operation)}\`, ${permission === 'public' ? 'without a key' : 'with a key'}. ${repeats(operation)}`,
    ...(input === undefined
      ? []
      : [`Fields of the ${query === undefined ? 'body' : 'query'}:`, fieldsTable(input, named)]),
    `Answers \`${shapeName(response, named)}\`.`,
    ...(errors.length === 0
      ? []
      : [`Can be refused with ${errors.map((code) => `\`${code}\``).join(', ')}.`]),
  ].join('\n\n');
}

export function sdkReference(): string {
  const named = new Set<string>();
  const sdk = readSdkExports();
  const offered = OPERATIONS.filter(({ id }) => Object.hasOwn(METHODS, id));
  const tags = [...new Set(offered.map(({ tag }) => tag))];
  const methods = tags.map((tag) => {
    const sections = offered.filter((one) => one.tag === tag).map((one) => methodSection(one, named, sdk));
    return `## Methods: ${tag}\n\n${sections.join('\n\n')}`;
  });
  return `${NOTE}

# SDK reference

Everything that \`@bellwether/sdk\` exports. How to do things with it: [sdk.md](sdk.md). What a code means and what to do next:
[errors.md](errors.md); besides the codes named below, any request can be refused for its form, its key, a limit or the load.

A method of \`BellwetherClient\` takes the parameters of its path, then its query or its body as one object, then
\`CallOptions\`. A method that is shown with a field's name instead takes that field itself.
Amounts of collateral and of shares are JSON numbers or decimal texts with at most six decimals, prices lie between 0 and 1, and
times are ISO 8601 texts or epoch milliseconds, as each field says.

${methods.join('\n\n')}

## Functions, classes and errors

${sdk.values}

## Types

${sdk.types}

## Shapes of the service

${shapeSections(named)}
`;
}
