/**
 * A hook of a coding session: sends the lines that its transcript has gained since the last time to the connector
 * `claude_code` of svc. It never holds up the session for long, never fails it, and loses no line: where svc cannot be
 * reached the lines wait for the next hook. A line that is sent twice is stored once, by its uuid.
 *
 * Standard input: what the client tells its hooks, one JSON object with `session_id`, `transcript_path`,
 * `hook_event_name`, and `agent_transcript_path` and `agent_type` where a subagent has ended.
 *
 * | Variable           | Meaning                                                                 |
 * | ------------------ | ----------------------------------------------------------------------- |
 * | SVCD_URL           | the daemon; http://127.0.0.1:8787                                       |
 * | SVC_AUTH_TOKEN     | a key with the scopes read and ingest; an open instance needs none      |
 * | SVC_INGEST_KEY     | ingest key of a source of its own; else the first source of claude_code |
 * | SVC_SESSION_LABELS | `flow=review,project=Shop,station=2`: labels of this session            |
 * | SVC_SESSIONS       | `off`: nothing is sent                                                  |
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Bytes of one request at most; a longer transcript is sent in several. */
const BODY_MAX = 4 * 1024 * 1024
/** How long one hook may take in all, in ms; hooks.json has a bound above it. */
const HOOK_MS = 6_000
const REQUEST_MS = 3_000
/** After a failure, hooks in the middle of a turn do not try again for this long, in ms. */
const REST_MS = 30_000
/** A lock that is older was left by a hook that was killed, in ms. */
const LOCK_MS = 60_000
/** Hooks after which the session waits for nothing. */
const ENDS = new Set(['Stop', 'SubagentStop', 'PreCompact', 'SessionEnd'])
/** Labels that a line may say for its session; the connector reads them. */
const LABELS = ['flow', 'project', 'station']

const { env } = process
const stateFolder =
  env.CLAUDE_PLUGIN_DATA || join(env.XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'svc-sessions')

/** @typedef {{ at: number, failedAt?: number, fault?: string }} State bytes that were sent; when it failed last, epoch ms, and why */

await main().catch((error) => {
  // The session goes on whatever happens here: what is wrong is told by the first hook of the next one.
  process.stderr.write(`svc: ${error instanceof Error ? error.message : error}\n`)
})

async function main() {
  const told = JSON.parse(readFileSync(0, 'utf8') || '{}')
  if (env.SVC_SESSIONS === 'off') return
  const event = String(told.hook_event_name ?? '')
  const files = [
    { path: told.transcript_path },
    ...(told.agent_transcript_path ? [{ path: told.agent_transcript_path, subagent: told.agent_type }] : []),
  ]
  const deadline = Date.now() + HOOK_MS
  mkdirSync(stateFolder, { recursive: true, mode: 0o700 })
  const faults = []
  for (const { path, subagent } of files) {
    if (typeof path !== 'string' || !existsSync(path)) continue
    // One that cannot be read holds up no other.
    const fault = await sendNew(path, { event, deadline, subagent }).catch((error) => toldOf(path, error))
    if (fault) faults.push(fault)
  }
  if (event !== 'SessionStart') return
  // A new session has no line yet that would show that the address or the credential is wrong.
  const fault = faults[0] ?? (await check())
  if (fault)
    process.stdout.write(`${JSON.stringify({ systemMessage: `svc: this session is not sent: ${fault}` })}\n`)
}

/** @param {string} path @param {unknown} error @returns {string} why the transcript is not sent, which is also written down */
function toldOf(path, error) {
  const fault = `the transcript ${path} cannot be read: ${error instanceof Error ? error.message : error}`
  process.stderr.write(`svc: ${fault}\n`)
  return fault
}

/**
 * Sends the whole lines that a transcript has beyond what was sent.
 * @param {string} path
 * @param {{ event: string, deadline: number, subagent?: string }} hook
 * @returns {Promise<string | null>} why they could not be sent; null: all were, or another hook is at it
 */
async function sendNew(path, { event, deadline, subagent }) {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  const unlock = lock(join(stateFolder, `${name}.lock`))
  // The other hook reads to the end; what is written meanwhile the next one sends.
  if (!unlock) return null
  try {
    const file = join(stateFolder, `${name}.json`)
    const state = readState(file, path)
    const isResting = state.failedAt !== undefined && Date.now() - state.failedAt < REST_MS
    if (isResting && !ENDS.has(event)) return state.fault ?? null
    for (let part = readLines(path, state.at); part.length > 0; part = readLines(path, state.at)) {
      if (Date.now() > deadline) return null
      const fault = await post(stamped(part, subagent))
      if (fault) {
        writeState(file, { at: state.at, failedAt: Date.now(), fault })
        return fault
      }
      state.at += part.length
      writeState(file, { at: state.at })
    }
    return null
  } finally {
    unlock()
  }
}

/** @param {string} folder @returns {(() => void) | null} gives it back; null: another hook has it */
function lock(folder) {
  for (let tries = 0; tries < 2; tries++) {
    try {
      mkdirSync(folder)
      return () => rmdirSync(folder)
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
      if (Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < LOCK_MS) return null
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return null
}

/** @param {string} file @param {string} path @returns {State} from the start where nothing was sent, or the transcript is another */
function readState(file, path) {
  try {
    const state = JSON.parse(readFileSync(file, 'utf8'))
    if (Number.isSafeInteger(state.at) && state.at <= statSync(path).size) return state
  } catch {
    // None yet, or a half-written one of an old machine: lines that are sent again are stored once.
  }
  return { at: 0 }
}

/** @param {string} file @param {State} state */
function writeState(file, state) {
  const next = `${file}.${process.pid}`
  writeFileSync(next, JSON.stringify(state), { mode: 0o600 })
  renameSync(next, file)
}

/**
 * @param {string} path @param {number} from
 * @returns {Buffer} whole lines from there, of a bounded size; empty: there is none
 */
function readLines(path, from) {
  const fd = openSync(path, 'r')
  try {
    const left = statSync(path).size - from
    for (let size = Math.min(left, BODY_MAX); ; size = Math.min(left, size * 4)) {
      const bytes = Buffer.alloc(Math.max(size, 0))
      const read = readSync(fd, bytes, 0, bytes.length, from)
      const end = bytes.subarray(0, read).lastIndexOf(10)
      if (end !== -1) return bytes.subarray(0, end + 1)
      // One line that is longer than a body goes by itself.
      if (size >= left) return Buffer.alloc(0)
    }
  } finally {
    closeSync(fd)
  }
}

/** @param {Buffer} lines @param {string | undefined} subagent @returns {Buffer} the lines with the labels of this session */
function stamped(lines, subagent) {
  const labels = { ...sessionLabels(env.SVC_SESSION_LABELS), ...(subagent ? { subagent } : {}) }
  if (Object.keys(labels).length === 0) return lines
  const said = JSON.stringify(labels).slice(1, -1)
  const text = lines
    .toString('utf8')
    .split('\n')
    .map((line) => {
      // In front, by text: the rest of the line stays as it was written, and what it says itself wins.
      return /^\{\s*"/.test(line) ? `{${said},${line.slice(1)}` : line
    })
  return Buffer.from(text.join('\n'))
}

/** @param {string | undefined} text `name=value,name=value` @returns {Record<string, string>} those the connector reads */
function sessionLabels(text) {
  const pairs = (text ?? '').split(',').map((pair) => pair.split('=').map((part) => part.trim()))
  return Object.fromEntries(
    pairs.flatMap(([name, value]) => (name && value && LABELS.includes(name) ? [[name, value]] : [])),
  )
}

/** @param {Buffer} body @returns {Promise<string | null>} why svc did not take it */
function post(body) {
  return ask(`/ingest/${encodeURIComponent(env.SVC_INGEST_KEY || 'claude_code')}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-ndjson',
      'idempotency-key': createHash('sha256').update(body).digest('hex'),
    },
    body,
  })
}

/** @returns {Promise<string | null>} why lines of this session would not be taken, asked before there is one */
async function check() {
  return ask('/api/whoami', {}, ({ scopes = [] }) =>
    scopes.includes('ingest') || scopes.includes('admin')
      ? null
      : 'the key of SVC_AUTH_TOKEN lacks the scope ingest; svc keys create sessions --scope read --scope ingest makes one that has it',
  )
}

/**
 * @param {string} path @param {RequestInit} request
 * @param {(answer: { scopes?: string[] }) => string | null} judge what is wrong with an answer of 2xx
 * @returns {Promise<string | null>} what is wrong
 */
async function ask(path, request, judge = () => null) {
  const base = (env.SVCD_URL || 'http://127.0.0.1:8787').replace(/\/+$/, '')
  const token = env.SVC_AUTH_TOKEN
  try {
    const answer = await fetch(`${base}${path}`, {
      ...request,
      redirect: 'error',
      headers: { ...request.headers, ...(token ? { authorization: `Bearer ${token}` } : {}) },
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    if (answer.ok) return judge(/** @type {{ scopes?: string[] }} */ (await answer.json()))
    return `${base} answers ${answer.status}: ${detailOf(await answer.text())}`
  } catch (error) {
    const why =
      error instanceof Error
        ? error.cause instanceof Error
          ? error.cause.message
          : error.message
        : String(error)
    return `${base} cannot be reached: ${why}`
  }
}

/** @param {string} text @returns {string} the sentence of an error; the beginning of any other text */
function detailOf(text) {
  try {
    const { detail } = JSON.parse(text)
    if (typeof detail === 'string') return detail
  } catch {
    // Something between here and svc has answered.
  }
  return text.slice(0, 300)
}
