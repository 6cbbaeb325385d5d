/**
 * Writes a finding on GitHub, where its agent may: a comment on the pull request or issue that its event is about, which
 * later findings of the same incident write over, and a check of the commit. What is there already is looked for
 * first, so that a try that was cut off is not written twice.
 */

import { readRetryAfter } from '../../schemas/retry-after.ts'
import { isApp, type TokenCredential, type UsableCredential } from '../model/credentials.ts'
import { GithubAppFault, type GithubTokens } from '../net/github-app.ts'
import { redact, storedFault } from '../net/redact.ts'
import { repoOf } from '../sources/upstreams/github-api.ts'
import type { SlackAccounts } from './send-slack.ts'
import { interrupted, type Out, type Outcome, outcomeOfRefusal } from './send-webhook.ts'

/** Where a finding is written. */
interface GithubPlace {
  repo: string
  /** Of a pull request or an issue. */
  number: number | null
  sha: string | null
}

/** What the labels of an event say of it; null: nothing that can be written to. */
export function githubPlaceOf(
  labels: Readonly<Record<string, string | number>>,
  writes: readonly ('comment' | 'check')[],
): GithubPlace | null {
  const text = (name: string) => String(labels[name] ?? '')
  const repo = repoOf(text('repo') || text('repository'))
  const number = /^[1-9]\d{0,9}$/.test(text('number')) ? Number(text('number')) : null
  const sha = /^[0-9a-f]{40}$/.test(text('sha')) ? text('sha') : null
  const hasPlace =
    (writes.includes('comment') && number !== null) || (writes.includes('check') && sha !== null)
  return repo !== null && hasPlace ? { repo, number, sha } : null
}

/** What is written of a finding; not for doors: the credential is in it. */
export interface GithubPost {
  kind: 'github'
  runId: string
  /** Findings of one share a comment. */
  incident: string
  agent: string
  credential: UsableCredential | null
  /** Why nothing can be written; null: it can. */
  fault: string | null
  writes: readonly ('comment' | 'check')[]
  repo: string
  number: number | null
  sha: string | null
  verdict: string | null
  headline: string | null
  nextStep: string | null
  note: string
  verified: { ok: number; total: number } | null
  conclusion: 'success' | 'failure' | 'neutral' | 'action_required'
  /** Epoch ms. */
  startedAt: number
  finishedAt: number
}

interface GithubOut extends Out {
  slack: Pick<SlackAccounts, 'publicUrl'>
  tokens: GithubTokens
}

/** Why it was not taken. */
interface Refusal {
  reason: string
  isFinal: boolean
  status: number | null
  retryAfterMs: number | null
}

class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.reason)
  }
}

const REQUEST_MS = 15_000
const ANSWER_BYTES = 4 * 1024 * 1024
/** GitHub's bounds of a comment and of the summary of a check are 65,536 characters. */
const TEXT_MAX = 60_000
const TITLE_MAX = 200
const PAGE = 100
const PAGES = 10
const TOLD_MAX = 200
/** What may pass by itself. */
const PASSING = new Set([408, 429, 500, 502, 503, 504])

/** Writes what is missing. @returns what came of it */
export async function sendGithub(post: GithubPost, out: GithubOut): Promise<Outcome> {
  const { situation, tokens } = out
  const { credential, fault } = post
  if (fault !== null || credential === null)
    return outcomeOfRefusal({ reason: fault ?? 'there is no credential', isFinal: true }, situation())
  const refusals: Refusal[] = []
  const attempt = async (write: (ask: Ask) => Promise<void>) => {
    try {
      const used = await tokens.use(credential, post.repo)
      await write(asker(used, post, out))
    } catch (error) {
      refusals.push(refusalOf(error))
    }
  }
  if (post.writes.includes('check') && post.sha !== null) {
    const { sha } = post
    if (isApp(credential)) await attempt((ask) => writeCheck(ask, { ...post, sha }, out))
    else refusals.push({ ...NEEDS_APP })
  }
  if (post.writes.includes('comment') && post.number !== null) {
    const { number } = post
    await attempt((ask) => writeComment(ask, { ...post, number }, out))
  }
  if (out.signal.aborted) return interrupted
  // What may pass is tried again, also where something else never will.
  const told = refusals.find(({ isFinal }) => !isFinal) ?? refusals[0]
  return outcomeOfRefusal(told ?? null, situation())
}

const NEEDS_APP: Refusal = {
  reason: 'a check takes a credential that is an app; GitHub takes none with a token',
  ...{ isFinal: true, status: null, retryAfterMs: null },
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refused) return error.refusal
  if (!(error instanceof GithubAppFault)) throw error
  const { message: reason, retryAfterMs } = error
  return { reason, isFinal: retryAfterMs === null, status: null, retryAfterMs }
}

interface Said {
  body: unknown
  hasNext: boolean
}
type Ask = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<Said>

/** Requests below the repository. Of GitHub's words of a refusal none carries the token. */
function asker(
  { apiUrl, token }: TokenCredential,
  { repo }: GithubPost,
  { egress, tokens, signal, situation }: GithubOut,
): Ask {
  return async (method, path, body) => {
    const answer = await egress.send({
      ...{ url: `${apiUrl}/repos/${repo}${path}`, method, signal },
      ...{ audience: 'operator', timeoutMs: REQUEST_MS, maxResponseBytes: ANSWER_BYTES },
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok)
      throw new Refused({
        reason: `GitHub cannot be reached: ${storedFault(answer.message, [token])}`,
        ...{ isFinal: false, status: answer.status, retryAfterMs: null },
      })
    const { status, headers } = answer
    const text = answer.body.toString('utf8')
    if (status < 300)
      return { body: parsed(text), hasNext: /;\s*rel="next"/.test(String(headers.link ?? '')) }
    // A token of an app that was taken back is followed by another.
    if (status === 401) tokens.drop(token)
    const told = storedFault(messageIn(text), [token])
    const isLimited = status === 403 && (headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(told))
    throw new Refused({
      reason: `GitHub answered ${status} to ${method} ${path.split('?')[0]}${told && `: ${told}`}${hintOf(status)}`,
      isFinal: !(PASSING.has(status) || isLimited || status === 401),
      status,
      retryAfterMs: readRetryAfter(headers['retry-after'], situation().now),
    })
  }
}

const hintOf = (status: number): string =>
  status === 403 || status === 404
    ? '; the credential needs the right to write checks, issues and pull requests there'
    : ''

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // What a proxy answers is a page for people.
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}

function messageIn(text: string): string {
  const { message } = (parsed(text) ?? {}) as { message?: unknown }
  return typeof message === 'string' ? message.replace(/\s+/g, ' ').slice(0, TOLD_MAX) : ''
}

/** docs.github.com, REST, Check runs: those of a name are told apart by `external_id`. */
async function writeCheck(ask: Ask, post: GithubPost & { sha: string }, { slack }: GithubOut): Promise<void> {
  const { agent, runId, sha, conclusion, startedAt, finishedAt } = post
  const name = `svc / ${agent}`
  const query = new URLSearchParams({ check_name: name, filter: 'all', per_page: String(PAGE) })
  const { body } = await ask('GET', `/commits/${sha}/check-runs?${query}`)
  const { check_runs: there } = (body ?? {}) as { check_runs?: { id?: unknown; external_id?: unknown }[] }
  const own = Array.isArray(there) ? there.find(({ external_id: id }) => id === runId) : undefined
  const page = pageOf(post, slack.publicUrl)
  const run = {
    ...{ name, external_id: runId, status: 'completed', conclusion },
    started_at: new Date(startedAt).toISOString(),
    completed_at: new Date(finishedAt).toISOString(),
    ...(page === null ? {} : { details_url: page }),
    output: { title: titleOf(post), summary: textOf(post, slack.publicUrl) },
  }
  if (typeof own?.id === 'number') await ask('PATCH', `/check-runs/${own.id}`, run)
  else await ask('POST', '/check-runs', { ...run, head_sha: sha })
}

/** A pull request is an issue, too. */
async function writeComment(
  ask: Ask,
  post: GithubPost & { number: number },
  { slack }: GithubOut,
): Promise<void> {
  const marker = `<!-- svc ${post.incident} ${post.agent} -->`
  const body = `${marker}\n${textOf(post, slack.publicUrl)}`
  for (let page = 1; page <= PAGES; page++) {
    const found = await ask('GET', `/issues/${post.number}/comments?per_page=${PAGE}&page=${page}`)
    const listed = (Array.isArray(found.body) ? found.body : []) as { id?: unknown; body?: unknown }[]
    const own = listed.find((one) => typeof one.body === 'string' && one.body.startsWith(marker))
    if (typeof own?.id === 'number') {
      await ask('PATCH', `/issues/comments/${own.id}`, { body })
      return
    }
    if (!found.hasNext) break
  }
  await ask('POST', `/issues/${post.number}/comments`, { body })
}

const pageOf = ({ runId }: GithubPost, publicUrl: string | null): string | null =>
  publicUrl === null ? null : `${publicUrl.replace(/\/+$/, '')}/runs/${encodeURIComponent(runId)}`

const titleOf = ({ headline, verdict }: GithubPost): string =>
  inert(headline ?? verdict ?? 'A finding').slice(0, TITLE_MAX)

/** The finding as Markdown. */
function textOf(post: GithubPost, publicUrl: string | null): string {
  const { agent, verdict, nextStep, note, verified } = post
  const page = pageOf(post, publicUrl)
  const of = page === null ? agent : `[${agent}](${page})`
  const facts = [
    `agent ${of}`,
    ...(verdict === null ? [] : [`verdict \`${verdict}\``]),
    ...(verified === null ? [] : [`${verified.ok} of ${verified.total} claims hold`]),
  ]
  const text = inert(redact(note))
  const cut = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}\n\n(cut)` : text
  const next = nextStep ? `\n\n**Next step:** ${inert(redact(nextStep))}` : ''
  return `**${titleOf(post)}**\n\n${cut}${next}\n\n<sub>${facts.join(', ')}</sub>`
}

/** Seen by nobody, and between two signs it makes them mean nothing. */
const JOINER = '\u2060'

/**
 * Text of a model, which may say what an event told it to: it calls nobody by @name, commands no bot, and loads nothing
 * from elsewhere, neither as an image nor as HTML.
 */
const inert = (text: string): string =>
  text
    .replace(/@(?=[\w-])/g, `@${JOINER}`)
    .replace(/!(?=\[)/g, `!${JOINER}`)
    .replace(/<(?=[A-Za-z/!?])/g, `<${JOINER}`)
    .replace(/^(\s*)\/(?=\w)/gm, `$1${JOINER}/`)
