/** Skills over HTTP: lists, submission, review; and the official texts name only routes that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import {
  readOfficialSkill,
  readOfficialSkills,
  writeOfficialSkills,
} from '../../packages/server/src/skills/store.ts';
import {
  call,
  newAgent,
  type RawAnswer,
  sharedTestService,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

const OPERATOR_KEY = 'an operator key of decent length'.replaceAll(' ', '-');
const FOLDER = join(import.meta.dirname, '../../packages/server/src/skills/official-skills');

let service: TestService;
let agent: Omit<Trader, 'funder' | 'signatureType'>;
let now = Date.now();

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off', OPERATOR_KEY }, { clock: { now: () => now } });
  agent = await newAgent(service, 'Skill writer');
});

const get = (path: string, key = agent.apiKey) => call(service, 'GET', path, { key });
const submit = (fields: Record<string, unknown> = {}, key = agent.apiKey) =>
  call(service, 'POST', '/agent/skill/submit-skill', {
    key,
    body: {
      skillName: 'Fade the open',
      description: 'Sells what rose at the open.\nIn two lines.',
      version: '0.1',
      howItWorks: '1. Wait.\n2. Sell.',
      ...fields,
    },
  });
const operate = (method: string, path: string, body?: unknown): Promise<RawAnswer> =>
  call(service, method, path, { key: OPERATOR_KEY, ...(body === undefined ? {} : { body }) });

describe('the lists', () => {
  test('official skills under both paths, with every field of the interface and its type', async () => {
    const { status, body } = await get('/agent/skill/skills');
    expect(status).toBe(200);
    expect(body.total).toBeGreaterThanOrEqual(5);
    expect(body.list).toHaveLength(body.total);
    for (const skill of body.list) {
      expect(skill).toEqual({
        skillCode: expect.stringMatching(/^[0-9a-f-]{36}$/),
        skillSlug: expect.stringMatching(/^[a-z-]+$/),
        skillName: expect.any(String),
        uploadUserId: 0,
        category: 1,
        version: expect.any(String),
        author: 'Bellwether',
        description: expect.any(String),
        difficultyLevel: expect.any(Number),
        installCount: expect.any(Number),
        howItWorks: expect.stringContaining('## Stop'),
        how_it_works: skill.howItWorks,
        hubUrl: '',
        githubUrl: '',
        createSource: 1,
        reviewStatus: 2,
        reviewRemark: '',
        createdAt: expect.stringMatching(/^\d{13}$/),
        updatedAt: expect.stringMatching(/^\d{13}$/),
      });
    }
    expect((await get('/agents/skills')).body).toEqual(body);
    expect((await get('/agent/skill/my-skills')).body).toEqual({ list: [], total: 0 });
  });

  test('pages, and filters by category', async () => {
    const all = (await get('/agent/skill/skills')).body;
    const page = (await get('/agent/skill/skills?limit=2&offset=1')).body;
    expect(page).toEqual({ list: all.list.slice(1, 3), total: all.total });
    expect((await get('/agent/skill/skills?category=1')).body.total).toBe(all.total);
    expect((await get('/agent/skill/skills?category=2')).body).toEqual({ list: [], total: 0 });
  });

  test.each(['category=3', 'category=x', 'limit=0', 'limit=101', 'limit=1.5', 'offset=-1', 'offset=a'])(
    'refuses %s',
    async (query) => {
      for (const path of ['/agent/skill/skills', '/agent/skill/my-skills', '/agents/skills']) {
        const { status, body } = await get(`${path}?${query}`);
        expect([status, body.code]).toEqual([400, 'invalid_request']);
      }
    },
  );
});

describe('submission and review', () => {
  test('pending and unlisted, then approved and listed, then hidden, then refused with a remark', async () => {
    const submitted = await submit({ githubUrl: 'https://github.example/fade' });
    expect(submitted.status).toBe(200);
    const me = await agent.client.getMe();
    expect(submitted.body).toMatchObject({
      uploadUserId: Number(me.userId),
      author: 'Skill writer',
      category: 2,
      difficultyLevel: 2,
      reviewStatus: 1,
      createSource: 2,
      githubUrl: 'https://github.example/fade',
      skillSlug: expect.stringMatching(/^fade-the-open-[0-9a-f]{6}$/),
    });
    const { skillCode } = submitted.body;
    const listedFor = async (path: string) =>
      (await get(path)).body.list.some((skill: { skillCode: string }) => skill.skillCode === skillCode);
    const both = async () => [
      await listedFor('/agent/skill/skills?category=2'),
      await listedFor('/agent/skill/my-skills'),
    ];
    expect(await both()).toEqual([false, false]);

    // Only its author sees it.
    const stranger = await newAgent(service);
    expect((await get(`/agent/skill/skills/${skillCode}`)).body.reviewStatus).toBe(1);
    const hidden = await get(`/agent/skill/skills/${skillCode}`, stranger.apiKey);
    expect([hidden.status, hidden.body.code]).toEqual([404, 'skill_not_found']);

    const pending = (await operate('GET', '/operator/skills')).body;
    expect(pending.list).toEqual([expect.objectContaining({ skillCode, isVisible: false })]);
    const approved = await operate('POST', `/operator/skills/${skillCode}/approve`, {
      difficultyLevel: 3,
      // A field that is not declared is no column.
      user_id: '1',
    });
    expect(approved.body).toMatchObject({ reviewStatus: 2, isVisible: true, difficultyLevel: 3 });
    expect(await both()).toEqual([true, true]);
    expect((await get(`/agent/skill/skills/${skillCode}`, stranger.apiKey)).status).toBe(200);

    await operate('POST', `/operator/skills/${skillCode}/visibility`, { visible: false });
    expect(await both()).toEqual([false, false]);
    await operate('POST', `/operator/skills/${skillCode}/visibility`, { visible: true });
    const reviewRemark = 'Step 2 sells what nobody holds.';
    await operate('POST', `/operator/skills/${skillCode}/refuse`, { reviewRemark });
    expect(await both()).toEqual([false, false]);
    expect((await get(`/agent/skill/skills/${skillCode}`)).body).toMatchObject({
      reviewStatus: 3,
      reviewRemark,
    });
    expect((await operate('GET', '/operator/skills?reviewStatus=3')).body.total).toBe(1);
  });

  test.each([
    ['http', { hubUrl: 'http://example.com/x' }, 'hubUrl'],
    ['another scheme', { hubUrl: 'javascript:alert(1)' }, 'hubUrl'],
    ['credentials', { githubUrl: 'https://user:pass@example.com/' }, 'githubUrl'],
    ['no host', { githubUrl: 'https://:443/' }, 'githubUrl'],
    ['a long address', { hubUrl: `https://e.example/${'x'.repeat(255)}` }, 'hubUrl'],
    ['a long name', { skillName: 'x'.repeat(101) }, 'skillName'],
    ['a long description', { description: 'x'.repeat(1001) }, 'description'],
    ['a long version', { version: 'x'.repeat(51) }, 'version'],
    ['an empty howItWorks', { howItWorks: '' }, 'howItWorks'],
    ['a control character', { howItWorks: 'a\u0000b' }, 'howItWorks'],
  ])('refuses %s', async (_what, fields, path) => {
    const { status, body } = await submit(fields);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.errors[0].path).toBe(path);
  });

  test('at most twenty wait per owner, even when submitted at the same time', async () => {
    const writer = await newAgent(service);
    const answers = await Promise.all(Array.from({ length: 24 }, () => submit({}, writer.apiKey)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ body }) => body.code === 'skill_queue_full')).toHaveLength(4);
  });

  test('unknown skills are not found', async () => {
    const code = '01980000-ffff-7000-8000-000000000009';
    expect((await get(`/agent/skill/skills/${code}`)).body.code).toBe('skill_not_found');
    const refused = await operate('POST', `/operator/skills/${code}/approve`, {});
    expect([refused.status, refused.body.code]).toEqual([404, 'skill_not_found']);
  });
});

describe('the operator’s key', () => {
  test('an agent’s key, a wrong key and none are refused', async () => {
    for (const key of [agent.apiKey, `${OPERATOR_KEY}x`, 'x', undefined]) {
      const { status, body } = await call(
        service,
        'GET',
        '/operator/skills',
        key === undefined ? {} : { key },
      );
      expect([status, body.code]).toEqual([401, 'unauthorized']);
    }
  });

  test('without OPERATOR_KEY the routes explain how to enable them', async () => {
    const without = await sharedTestService();
    const { status, body } = await call(without, 'GET', '/operator/skills', { key: OPERATOR_KEY });
    expect([status, body.code]).toEqual([403, 'operator_disabled']);
    expect(body.fix).toContain('OPERATOR_KEY');
  });

  test('guessing is rate limited, separately from failures of agents', async () => {
    const limited = await startTestService({
      PAPER_WORLD: 'off',
      OPERATOR_KEY,
      RATE_LIMITS: 'on',
      RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE: '3',
    });
    const guess = async () => (await call(limited, 'GET', '/operator/skills', { key: 'guess' })).status;
    expect([await guess(), await guess(), await guess(), await guess()]).toEqual([401, 401, 401, 429]);
    expect((await call(limited, 'GET', '/agents/me')).status).toBe(401);
    expect((await call(limited, 'GET', '/operator/skills', { key: OPERATOR_KEY })).status).toBe(200);
  });
});

describe('official skills', () => {
  const files = readdirSync(FOLDER);
  const skills = readOfficialSkills(0);

  test('there are at least five, each of readable length', () => {
    expect(skills.map(({ slug }) => slug)).toEqual(
      expect.arrayContaining([
        'market-making',
        'momentum',
        'closing-line-value',
        'event-arbitrage',
        'redeem-sweep',
      ]),
    );
    for (const { slug, howItWorks } of skills) {
      const words = howItWorks.split(/\s+/).length;
      expect(words, slug).toBeGreaterThanOrEqual(250);
      expect(words, slug).toBeLessThanOrEqual(500);
    }
    expect(new Set(skills.map(({ skillCode }) => skillCode)).size).toBe(files.length);
  });

  test('every route that they name exists, and accepts the parameters that they send', async () => {
    const { body: document } = await call(service, 'GET', '/openapi.json');
    const paths = Object.entries(document.paths as Record<string, Record<string, never>>);
    for (const { slug, howItWorks } of skills) {
      const named = [...howItWorks.matchAll(/`(GET|POST|DELETE) (\/[^`\s?]+)(\?[^`\s]*)?/g)];
      expect(named.length, slug).toBeGreaterThan(3);
      for (const [, method = '', path = '', query = ''] of named) {
        const route = paths.find(([pattern, methods]) => {
          const sameShape = new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path);
          return sameShape && method.toLowerCase() in methods && (pattern === path || path.includes('{'));
        });
        expect(route, `${slug}: ${method} ${path}`).toBeDefined();
        const operations = route?.[1] as Record<string, { parameters?: { name: string }[] }> | undefined;
        const parameters = operations?.[method.toLowerCase()]?.parameters ?? [];
        for (const [, name] of query.matchAll(/[?&](\w+)=/g))
          expect(
            parameters.map((parameter) => parameter.name),
            `${slug}: ${path}`,
          ).toContain(name);
      }
    }
  });

  test('a newer text replaces an older one, never the reverse; the operator’s decision stays', async () => {
    const sql = openPool(service.databaseUrl, { max: 1 });
    const source = readFileSync(join(FOLDER, 'momentum.md'), 'utf8');
    const at = (version: string, text: string) =>
      readOfficialSkill(
        'momentum.md',
        source.replace(/version: .*/, `version: ${version}`).replace('## Idea', `## ${text}`),
        now,
      );
    const stored = async () => {
      const [row] = await sql`select * from skills where slug = 'momentum'`;
      return [row?.version, row?.how_it_works.split('\n')[0], row?.is_visible];
    };
    const { skillCode } = at('1.0.0', '');
    await operate('POST', `/operator/skills/${skillCode}/visibility`, { visible: false });
    await writeOfficialSkills(sql, [at('1.10.0', 'Newer')]);
    expect(await stored()).toEqual(['1.10.0', '## Newer', false]);
    await writeOfficialSkills(sql, [at('1.9.0', 'Older'), ...[]]);
    expect(await stored()).toEqual(['1.10.0', '## Newer', false]);
    await sql.end();
  });

  test('the briefing recommends them from a cache; an approval appears within a minute', async () => {
    const { recommendedSkills } = service.needs;
    const first = await recommendedSkills();
    expect(first.length).toBeGreaterThan(0);
    expect(await recommendedSkills()).toBe(first);
    const [{ skillCode } = { skillCode: '' }] = first;
    await operate('POST', `/operator/skills/${skillCode}/visibility`, { visible: false });
    now += 60_001;
    expect((await recommendedSkills()).map((skill) => skill.skillCode)).not.toContain(skillCode);
  });
});
