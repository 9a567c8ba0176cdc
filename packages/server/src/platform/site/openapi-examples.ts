/**
 * Runnable examples in the OpenAPI document: of every operation the request, with placeholders that the document explains,
 * and the answer that a service gave to it. `test/e2e/openapi-examples.test.ts` runs each and compares the answers.
 */
import {
  ANSWERS,
  EXAMPLES,
  type Example,
  fillIn,
  PLACEHOLDERS,
  placeholdersOf,
  SAMPLES,
} from '@bellwether/contract/examples';

const NAME = 'runnable';
const TEMPLATE = 'x-template';

interface Media {
  /** Of the schema alone; excludes the others. */
  example?: unknown;
  examples?: Record<string, object>;
}
interface Parameter extends Media {
  readonly name: string;
  readonly in: string;
}
interface DocumentedOperation {
  readonly operationId?: string;
  parameters?: Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface Document {
  readonly info: { description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

/** Meaning of each placeholder of an example, for a reader of this place alone. */
const explained = (value: unknown): { readonly description?: string } => {
  const names = placeholdersOf(value);
  if (names.length === 0) return {};
  return { description: names.map((name) => `\`{{${name}}}\`: ${PLACEHOLDERS[name]}`).join('\n\n') };
};

/** The value has the form that the schema asks for; the template says what to put where. */
const runnable = (template: unknown): Record<string, object> => ({
  [NAME]: {
    value: fillIn(template, SAMPLES),
    ...(placeholdersOf(template).length === 0 ? {} : { [TEMPLATE]: template }),
    ...explained(template),
  },
});

function show(place: Media, examples: Record<string, object>): void {
  delete place.example;
  place.examples = examples;
}

const firstOf = (content: Readonly<Record<string, Media>> | undefined): Media | undefined =>
  Object.values(content ?? {})[0];

function addRequest(operation: DocumentedOperation, example: Example): void {
  const given: readonly (readonly [place: string, values: Readonly<Record<string, unknown>>])[] = [
    ['path', example.path ?? {}],
    ['query', example.query ?? {}],
    ['header', example.headers ?? {}],
  ];
  for (const [place, values] of given)
    for (const [name, value] of Object.entries(values)) {
      const known = operation.parameters?.find((one) => one.in === place && one.name === name);
      const examples = runnable(value);
      if (known !== undefined) show(known, examples);
      else
        operation.parameters = [
          ...(operation.parameters ?? []),
          { name, in: place, examples, ...{ required: true, schema: { type: 'string' } } },
        ];
    }
  const media = firstOf(operation.requestBody?.content);
  if (media !== undefined && example.body !== undefined) show(media, runnable(example.body));
}

function addAnswer({ responses }: DocumentedOperation, answer: { status: number; body: unknown }): void {
  const media = firstOf(responses[answer.status]?.content);
  if (media !== undefined) show(media, { [NAME]: { value: answer.body } });
}

export const HOW_TO_RUN =
  'Every operation has an example named `runnable`, with values that have the right form and stand for nothing: `x-template` beside it shows the same with `{{placeholders}}`, which the document explains under `x-placeholders`. With your values for them it is answered as shown. Keys go where `security` says.';

/** Adds them to the finished document. */
export function withExamples<T extends object>(document: T): T {
  const { paths, info } = document as Document;
  for (const operation of Object.values(paths ?? {}).flatMap((path) => Object.values(path))) {
    const id = operation.operationId as keyof typeof EXAMPLES;
    if (!Object.hasOwn(EXAMPLES, id)) continue;
    addRequest(operation, EXAMPLES[id]);
    const answer = ANSWERS[id];
    if (answer !== undefined) addAnswer(operation, answer);
  }
  info.description = `${info.description} ${HOW_TO_RUN}`;
  return { ...document, 'x-placeholders': PLACEHOLDERS };
}
