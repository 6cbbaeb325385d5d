/** 21.8: the plugin of coding sessions: its hook, run as the client runs it, against the daemon. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Daemon, startDaemon } from '../chaos/daemon.ts'
import { root, textOf } from '../house/project-files.ts'

const PLUGIN = 'plugins/coding-sessions'
const HOOK = fileURLToPath(new URL(`../../${PLUGIN}/hooks/send-session.mjs`, import.meta.url))

let folder: string
let daemon: Daemon
beforeAll(async () => {
  daemon = await startDaemon(mkdtempSync(join(tmpdir(), 'svc-plugin-')), ['--auth', 'root-token-of-a-test'])
})
afterAll(() => daemon.kill())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-session-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(`${daemon.url}${path}`, {
    method,
    headers: { authorization: 'Bearer root-token-of-a-test', 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true)
  return (await answer.json()) as T
}

const makeKey = async (name: string, scopes: string[]): Promise<string> =>
  (await call<{ secret: string }>('POST', '/api/keys', { name, scopes })).secret

/** Runs the hook with what the client tells it. @returns its exit code, and what it says to the session */
async function run(
  event: string,
  told: Record<string, unknown>,
  env: Record<string, string>,
): Promise<{ code: number; message: string | null; error: string }> {
  const child = spawn(process.execPath, [HOOK], {
    env: { PATH: process.env.PATH, CLAUDE_PLUGIN_DATA: join(folder, 'state'), SVCD_URL: daemon.url, ...env },
  })
  const out: string[] = []
  const error: string[] = []
  child.stdout.on('data', (part) => out.push(String(part)))
  child.stderr.on('data', (part) => error.push(String(part)))
  child.stdin.end(JSON.stringify({ hook_event_name: event, ...told }))
  const [code] = (await once(child, 'close')) as [number]
  const text = out.join('')
  return { code, message: text ? JSON.parse(text).systemMessage : null, error: error.join('') }
}

let lines = 0
const line = (session: string, text: string): string =>
  `${JSON.stringify({
    type: 'user',
    uuid: `00000000-0000-4000-8000-${String(++lines).padStart(12, '0')}`,
    sessionId: session,
    timestamp: new Date().toISOString(),
    cwd: '/srv/shop',
    message: { role: 'user', content: text },
  })}\n`

const textsOf = async (session: string): Promise<string[]> =>
  (
    await call<{ rows: { text: string }[] }>('POST', '/read', {
      selector: { session },
      window: '1h',
    })
  ).rows.map(({ text }) => text)

describe('the hook of a coding session', () => {
  it('sends what the transcript gained since the last time, each line once, whole lines alone', async () => {
    const SVC_AUTH_TOKEN = await makeKey('sessions', ['read', 'ingest'])
    const transcript_path = join(folder, 'a.jsonl')
    writeFileSync(transcript_path, line('a', 'first') + line('a', 'second'))
    const hook = (event: string) => run(event, { session_id: 'a', transcript_path }, { SVC_AUTH_TOKEN })
    expect(await hook('Stop')).toEqual({ code: 0, message: null, error: '' })
    expect(await textsOf('a')).toEqual(['first', 'second'].map((text) => expect.stringContaining(text)))
    const third = line('a', 'third')
    appendFileSync(transcript_path, third.slice(0, 40))
    await hook('PostToolUse')
    expect(await textsOf('a')).toHaveLength(2)
    appendFileSync(transcript_path, third.slice(40))
    await hook('PostToolUse')
    await hook('SessionEnd')
    expect(await textsOf('a')).toHaveLength(3)
    // Its memory may be lost: what is sent again is stored once.
    rmSync(join(folder, 'state'), { recursive: true })
    await hook('SessionEnd')
    expect(await textsOf('a')).toHaveLength(3)
  })

  it('keeps what cannot be sent for the next hook, and never fails the session', async () => {
    const SVC_AUTH_TOKEN = await makeKey('later', ['read', 'ingest'])
    const transcript_path = join(folder, 'b.jsonl')
    writeFileSync(transcript_path, line('b', 'while svc is away'))
    const away = createServer((_request, response) => response.writeHead(503).end('no'))
    away.listen(0, '127.0.0.1')
    await once(away, 'listening')
    const { port } = away.address() as { port: number }
    const told = { session_id: 'b', transcript_path }
    const SVCD_URL = `http://127.0.0.1:${port}`
    expect(await run('Stop', told, { SVC_AUTH_TOKEN, SVCD_URL })).toMatchObject({ code: 0, message: null })
    away.close()
    expect(await run('Stop', told, { SVC_AUTH_TOKEN, SVCD_URL })).toMatchObject({ code: 0, message: null })
    // In the middle of a turn nothing is tried again so soon; at its end it is.
    expect(await run('PostToolUse', told, { SVC_AUTH_TOKEN })).toMatchObject({ code: 0 })
    expect(await textsOf('b')).toEqual([])
    expect(await run('Stop', told, { SVC_AUTH_TOKEN })).toMatchObject({ code: 0 })
    expect(await textsOf('b')).toHaveLength(1)
  })

  it.each([
    ['nothing is there', async () => ({ SVCD_URL: 'http://127.0.0.1:9' }), 'cannot be reached'],
    ['the key is wrong', async () => ({ SVC_AUTH_TOKEN: 'svc_wrong' }), 'answers 401'],
    [
      'the key may only read',
      async () => ({ SVC_AUTH_TOKEN: await makeKey('reads', ['read']) }),
      'lacks the scope ingest',
    ],
  ])('says at the start of a session that it is not sent: %s', async (_what, env, why) => {
    const { code, message } = await run(
      'SessionStart',
      { session_id: 'c', transcript_path: join(folder, 'none') },
      (await env()) as Record<string, string>,
    )
    expect(code).toBe(0)
    expect(message).toMatch(/^svc: this session is not sent: /)
    expect(message).toContain(why)
  })

  it('says that a transcript cannot be read, and sends the other', async () => {
    const SVC_AUTH_TOKEN = await makeKey('unreadable', ['read', 'ingest'])
    const transcript_path = join(folder, 'a-folder')
    mkdirSync(transcript_path)
    const agent_transcript_path = join(folder, 'sub.jsonl')
    writeFileSync(agent_transcript_path, line('u', 'of the subagent'))
    const told = { session_id: 'u', transcript_path, agent_transcript_path, agent_type: 'review' }
    const fault = `the transcript ${transcript_path} cannot be read: EISDIR`
    const { code, message, error } = await run('SessionStart', told, { SVC_AUTH_TOKEN })
    expect(code).toBe(0)
    expect(message).toContain(`this session is not sent: ${fault}`)
    expect(error).toContain(fault)
    expect(await textsOf('u')).toEqual([expect.stringContaining('of the subagent')])
  })

  it('puts labels of the session and of a subagent on its lines, and leaves what a line says itself', async () => {
    const env = {
      SVC_AUTH_TOKEN: await makeKey('labels', ['read', 'ingest']),
      SVC_SESSION_LABELS: 'flow=review, station=2,secret=no',
    }
    const transcript_path = join(folder, 'd.jsonl')
    const agent_transcript_path = join(folder, 'agent-1.jsonl')
    writeFileSync(transcript_path, line('d', 'of the session').replace('{', '{"flow":"own",'))
    writeFileSync(agent_transcript_path, line('d', 'of the subagent'))
    const told = { session_id: 'd', transcript_path, agent_transcript_path, agent_type: 'explorer' }
    expect(await run('SubagentStop', told, env)).toMatchObject({ code: 0, error: '' })
    const { rows } = await call<{ rows: { labels: Record<string, string> }[] }>('POST', '/read', {
      selector: { session: 'd' },
      window: '1h',
    })
    expect(rows.map(({ labels }) => [labels.flow, labels.station, labels.subagent])).toEqual([
      ['own', '2', undefined],
      ['review', '2', 'explorer'],
    ])
  })

  it('sends nothing where it is switched off', async () => {
    const transcript_path = join(folder, 'e.jsonl')
    writeFileSync(transcript_path, line('e', 'private'))
    const env = { SVC_AUTH_TOKEN: await makeKey('off', ['read', 'ingest']), SVC_SESSIONS: 'off' }
    expect(await run('Stop', { session_id: 'e', transcript_path }, env)).toMatchObject({ code: 0 })
    expect(await textsOf('e')).toEqual([])
  })
})

describe('the plugin of coding sessions', () => {
  it('is in the marketplace of this repository, with the version of svc', () => {
    const market = JSON.parse(textOf('.claude-plugin/marketplace.json'))
    expect(market.plugins).toEqual([expect.objectContaining({ name: 'svc', source: `./${PLUGIN}` })])
    const manifest = JSON.parse(textOf(`${PLUGIN}/.claude-plugin/plugin.json`))
    expect(manifest).toMatchObject({ name: 'svc', version: JSON.parse(textOf('package.json')).version })
  })

  it('runs its hook at each event by its own path, and has the skill that svc ships', () => {
    const { hooks } = JSON.parse(textOf(`${PLUGIN}/hooks/hooks.json`)) as {
      hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>
    }
    for (const matchers of Object.values(hooks))
      expect(matchers.flatMap((matcher) => matcher.hooks)).toEqual([
        expect.objectContaining({ command: `node "\${CLAUDE_PLUGIN_ROOT}/hooks/send-session.mjs"` }),
      ])
    expect(Object.keys(hooks)).toContain('SessionEnd')
    expect(readdirSync(join(root, PLUGIN, 'skills'))).toEqual(['svc'])
    expect(textOf(`${PLUGIN}/skills/svc/SKILL.md`)).toBe(textOf('catalog/skills/svc/SKILL.md'))
  })
})
