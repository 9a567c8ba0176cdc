/** Questions of one turn of the event loop share a statement; each answer is its own question's, and so is each fault. */
import { setImmediate as turn } from 'node:timers/promises';
import { DatabaseError } from '@bellwether/durable';
import { DatabaseError as ServerFault } from 'pg';
import { expect, test } from 'vitest';
import { type Answering, byShape, groupReads } from '../src/platform/database/grouped-reads.ts';

interface Row extends Answering {
  readonly text: string;
}

interface Statement {
  readonly questions: readonly string[];
  answer(): void;
  fail(fault: unknown): void;
}

const MOST_IN_GROUP = 64;
const MOST_UNDER_WAY = 2;
const MOST_WAITING = 5_000;

function stage() {
  const statements: Statement[] = [];
  const ask = groupReads<string, Row>(
    (questions) =>
      new Promise((resolve, reject) => {
        const rows = questions.flatMap((text, index) => {
          const row = { nth: index + 1, text };
          return text === 'nothing' ? [] : text === 'twice' ? [row, row] : [row];
        });
        statements.push({ questions, answer: () => resolve(rows), fail: reject });
      }),
  );
  const sent = () => statements.map(({ questions }) => questions);
  return { ask, statements, sent };
}

const refused = (code: string): DatabaseError =>
  new DatabaseError(Object.assign(new ServerFault('refused', 0, 'error'), { code }));

test('questions of one turn are one statement, and each gets its own rows', async () => {
  const { ask, statements, sent } = stage();
  const answers = Promise.all(['one', 'nothing', 'twice', 'one'].map(ask));
  expect(sent()).toEqual([]);
  await turn();
  expect(sent()).toEqual([['one', 'nothing', 'twice', 'one']]);
  statements[0]?.answer();
  const texts = (await answers).map((rows) => rows.map(({ text }) => text));
  expect(texts).toEqual([['one'], [], ['twice', 'twice'], ['one']]);
});

test('a question never joins a statement that was sent before it arrived', async () => {
  const { ask, statements, sent } = stage();
  const first = ask('first');
  await turn();
  const second = ask('second');
  expect(sent()).toEqual([['first']]);
  await turn();
  expect(sent()).toEqual([['first'], ['second']]);
  for (const { answer } of statements) answer();
  expect([await first, await second].flat().map(({ text }) => text)).toEqual(['first', 'second']);
});

test('a group and the statements under way are bounded; what waits goes with the next', async () => {
  const { ask, statements, sent } = stage();
  const most = MOST_IN_GROUP * MOST_UNDER_WAY;
  const answers = Promise.all(Array.from({ length: most + 5 }, (_, index) => ask(String(index))));
  await turn();
  expect(sent().map(({ length }) => length)).toEqual(Array(MOST_UNDER_WAY).fill(MOST_IN_GROUP));
  const late = ask('late');
  await turn();
  expect(sent().length).toBe(MOST_UNDER_WAY);
  statements[1]?.answer();
  await turn();
  await turn();
  expect(sent()[MOST_UNDER_WAY]).toEqual([...[0, 1, 2, 3, 4].map((nth) => String(most + nth)), 'late']);
  for (const { answer } of statements) answer();
  expect((await answers).flat().map(({ text }) => text)).toEqual(
    Array.from({ length: most + 5 }, (_, index) => String(index)),
  );
  expect((await late)[0]?.text).toBe('late');
});

test('a question that the server refuses fails alone', async () => {
  const { ask, statements, sent } = stage();
  const answers = Promise.allSettled(['good', 'poison', 'fine'].map(ask));
  await turn();
  statements[0]?.fail(refused('22003'));
  await turn();
  expect(sent().slice(1)).toEqual([['good'], ['poison'], ['fine']]);
  for (const { questions, answer, fail } of statements.slice(1))
    if (questions[0] === 'poison') fail(refused('22003'));
    else answer();
  expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test.each([
  ['a lost connection', Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })],
  ['a server that shuts down', refused('57P01')],
])('%s fails all of the group, and nothing is asked again', async (_, fault) => {
  const { ask, statements, sent } = stage();
  const answers = Promise.allSettled(['one', 'two'].map(ask));
  await turn();
  statements[0]?.fail(fault);
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await turn();
  expect(sent().length).toBe(1);
});

test('a database that does not answer gathers no more than a bound', async () => {
  const { ask } = stage();
  const fill = Array.from({ length: MOST_IN_GROUP * MOST_UNDER_WAY }, () => ask('under way'));
  await turn();
  for (let nth = 0; nth < MOST_WAITING; nth += 1) fill.push(ask('waiting'));
  await expect(ask('one too many')).rejects.toMatchObject({ code: '53300' });
  expect(fill.length).toBe(MOST_IN_GROUP * MOST_UNDER_WAY + MOST_WAITING);
});

test('questions of different shapes are different statements', async () => {
  const made: string[] = [];
  const ask = byShape(
    (question: string) => ({ length: question.length }),
    ({ length }) => {
      made.push(String(length));
      return async (question) => `${length} ${question}`;
    },
  );
  expect(await Promise.all(['a', 'bb', 'c'].map(ask))).toEqual(['1 a', '2 bb', '1 c']);
  expect(made).toEqual(['1', '2']);
});
