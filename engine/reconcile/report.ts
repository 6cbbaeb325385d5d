/**
 * Tells GitHub what became of a commit: a status of the commit, and one comment on the pull request that brought it,
 * which is written over by the next. Only where a stored credential is named, and only of the newest entry. And opens
 * a pull request of a branch, where a person asks for one.
 */
import { callerText } from '../../schemas/caller-words.ts'
import { fieldWords } from '../../schemas/field-words.ts'
import { kindWord } from '../../schemas/kinds.ts'
import type {
  CatalogCommit,
  CatalogDifference,
  CatalogPullRequest,
  GithubConfig,
} from '../../schemas/types.ts'
import { fail, SvcError } from '../errors.ts'
import { oneLine } from '../log/ingest/label.ts'
import type { TokenCredential, UsableCredential } from '../model/credentials.ts'
import type { Egress } from '../net/fetch.ts'
import { GithubAppFault, type GithubTokens } from '../net/github-app.ts'
import { storedFault } from '../net/redact.ts'
import { repoOf } from '../sources/upstreams/github-api.ts'
import { type Repository, RepositoryFault } from './git.ts'
import type { HistoryRow, SyncPort } from './port.ts'

export interface ReportParts {
  repository: Repository | null
  port: Pick<SyncPort, 'unreportedSync' | 'reportedSync'>
  egress: Pick<Egress, 'send'>
  tokens: Pick<GithubTokens, 'use'>
  /** Address of the console, for links; null: not known. */
  publicUrl: string | null
  onError(error: Error): void
}

const REQUEST_MS = 15_000
const ANSWER_BYTES = 2 * 1024 * 1024
/** GitHub's bound. */
const DESCRIPTION_MAX = 140
const TOLD_MAX = 300
/** Fields that a pull request names. */
const LISTED = 100
const LINE_MAX = 300

type GithubState = 'success' | 'failure' | 'pending'
const STATES: Readonly<Record<HistoryRow['outcome'], GithubState>> = {
  ...{ applied: 'success', rolled_back: 'success', failed: 'failure', drifted: 'failure', held: 'pending' },
}

/** @returns what reports the newest entry that was not reported; nothing where no credential is named */
export function createReport({
  repository,
  port,
  egress,
  tokens,
  publicUrl,
  onError,
}: ReportParts): () => Promise<void> {
  const name = repository?.credential ?? null
  const repo = repository ? repoOf(repository.address) : null
  if (!repository || name === null || repo === null) return async () => {}
  return async () => {
    const found = await port.unreportedSync(name)
    if (!found?.entry.commit) return
    const { entry } = found
    const told = { entry, commit: entry.commit!, instance: repository.instance, publicUrl }
    try {
      const github = githubAt(egress, await tokens.use(found.credential, repo), repo)
      await sendStatus(github, told)
      await sendComment(github, told)
    } catch (error) {
      // One that GitHub refuses for good is not sent again with each look.
      const isFinal =
        error instanceof Refused || (error instanceof GithubAppFault && error.retryAfterMs === null)
      if (!isFinal) throw error
      onError(
        new Error(`${error.message}; the credential needs the right to write statuses and comments`, {
          cause: error,
        }),
      )
    }
    await port.reportedSync(entry.id)
  }
}

/** A credential as git and GitHub are asked with it; of an app a token that holds. @throws RepositoryFault */
export async function tokenOf(
  tokens: Pick<GithubTokens, 'use'>,
  credential: UsableCredential,
  address: string,
): Promise<TokenCredential> {
  try {
    return await tokens.use(credential, repoOf(address))
  } catch (error) {
    if (!(error instanceof GithubAppFault)) throw error
    throw new RepositoryFault(error.retryAfterMs === null ? 'credential' : 'unreachable', error.message)
  }
}

interface ToldCommit {
  entry: HistoryRow
  commit: CatalogCommit
  instance: string
  publicUrl: string | null
}

class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type Github = (method: string, path: string, body?: object) => Promise<unknown>

function githubAt(
  egress: Pick<Egress, 'send'>,
  { apiUrl, token }: TokenCredential,
  repo: GithubConfig['repo'],
): Github {
  return async (method, path, body) => {
    const answer = await egress.send({
      ...{ url: `${apiUrl}/repos/${repo}${path}`, method, timeoutMs: REQUEST_MS },
      ...{ audience: 'operator', maxResponseBytes: ANSWER_BYTES },
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok) throw new Error(`GitHub cannot be told: ${answer.message}`)
    if (answer.status < 300) return answer.body.length ? JSON.parse(answer.body.toString('utf8')) : null
    const said = messageIn(answer.body)
    const asked = `${method} ${path.replace(/[0-9a-f]{40}/, 'COMMIT').replace(/\?.*/, '')}`
    const told = `GitHub answered ${answer.status} to ${asked}${said ? ` (${said})` : ''}`
    if ([401, 403, 404, 410, 422].includes(answer.status)) throw new Refused(answer.status, told)
    throw new Error(told)
  }
}

/** What GitHub says of a refusal, on one line. */
function messageIn(body: Buffer): string {
  try {
    const said = JSON.parse(body.toString('utf8')) as { message?: unknown; errors?: { message?: unknown }[] }
    const parts = [
      said.message,
      ...(Array.isArray(said.errors) ? said.errors.map((one) => one?.message) : []),
    ]
    return oneLine(parts.filter((one) => typeof one === 'string').join(': '), TOLD_MAX)
  } catch (error) {
    // What a proxy answers is a page for people; the status is enough.
    if (!(error instanceof SyntaxError)) throw error
    return ''
  }
}

/* A pull request of a branch that was pushed. */

export interface PullRequestOf {
  egress: Pick<Egress, 'send'>
  credential: TokenCredential
  repo: GithubConfig['repo']
  /** Branch that it is of, and the one it is for. */
  branch: string
  base: string
  title: string
  body: string
}

/**
 * Opens the pull request of a branch, or brings the one that is open up to date.
 * @throws SvcError upstream that says what GitHub refused, and what to do
 */
export async function openPullRequest(of: PullRequestOf): Promise<{
  pullRequest: Pick<CatalogPullRequest, 'number' | 'url'>
  existing: boolean
}> {
  const { repo, branch, base, title, body, credential } = of
  const github = githubAt(of.egress, credential, repo)
  const query = new URLSearchParams({ state: 'open', head: `${repo.split('/')[0]}:${branch}`, base })
  try {
    const [open] = ((await github('GET', `/pulls?${query}`)) as { number?: unknown }[] | null) ?? []
    const isOpen = typeof open?.number === 'number'
    const made = isOpen
      ? await github('PATCH', `/pulls/${open.number}`, { title, body })
      : await github('POST', '/pulls', { title, head: branch, base, body })
    const { number, html_url: url } = (made ?? {}) as { number?: unknown; html_url?: unknown }
    if (typeof number !== 'number' || typeof url !== 'string' || !/^https?:/.test(url))
      return fail('upstream', 'what answers is not the API of GitHub: it names no pull request')
    return { pullRequest: { number, url }, existing: isOpen }
  } catch (error) {
    if (error instanceof SvcError) throw error
    const hint = error instanceof Refused ? (HINTS[error.status] ?? '') : ''
    const { message } = error as Error
    throw new SvcError(
      'upstream',
      storedFault(`the branch ${branch} is pushed, but no pull request was opened: ${message}${hint}`, [
        credential.token,
      ]),
    )
  }
}

const HINTS: Readonly<Record<number, string>> = {
  401: ': the credential is not taken; rotate it under Settings, GitHub',
  403: ': the credential needs the right to write pull requests',
  404: ': the credential may not see the repository, or there is none of that name',
}

/** The text of a pull request: which fields, and who changed them. What comes of instances is in a code block. */
export function pullRequestText(
  instance: string,
  differences: readonly CatalogDifference[],
  why: string | undefined,
): string {
  const byHand = differences.filter(({ changed_in: where }) => where === 'instance')
  const lines = byHand.slice(0, LISTED).map(({ kind, name, path, hand }) => {
    const field = path ? `, ${fieldWords(kind, path)}` : ''
    const by = hand ? `, by ${callerText(hand.by)} at ${hand.at}, change-set ${hand.change_set}` : ''
    return oneLine(`${kindWord(kind)} ${name}${field}${by}`, LINE_MAX).replaceAll('`', "'")
  })
  if (byHand.length > LISTED) lines.push(`and ${byHand.length - LISTED} more`)
  const said = why ? `${oneLine(why, LINE_MAX).replaceAll('`', "'")}\n\n` : ''
  return `${said}What was changed by hand on ${instance.replaceAll('`', "'")}:\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`
}

function sendStatus(github: Github, { entry, commit, instance, publicUrl }: ToldCommit): Promise<unknown> {
  return github('POST', `/statuses/${commit.id}`, {
    state: STATES[entry.outcome],
    // Each instance has its own, so that two that follow one repository do not write over each other.
    context: `svc/${instance}`,
    description: sentenceOf(entry).slice(0, DESCRIPTION_MAX),
    ...(publicUrl === null ? {} : { target_url: pageOf(publicUrl) }),
  })
}

async function sendComment(github: Github, told: ToldCommit): Promise<void> {
  const { commit, instance } = told
  const [pull] = ((await github('GET', `/commits/${commit.id}/pulls`)) as { number?: unknown }[] | null) ?? []
  if (typeof pull?.number !== 'number') return
  const marker = `<!-- svc catalog ${instance} -->`
  const body = `${marker}\n${commentOf(told)}`
  const comments = (await github('GET', `/issues/${pull.number}/comments?per_page=100`)) as
    | { id?: unknown; body?: unknown }[]
    | null
  const own = comments?.find((one) => typeof one.body === 'string' && one.body.startsWith(marker))
  if (typeof own?.id === 'number') await github('PATCH', `/issues/comments/${own.id}`, { body })
  else await github('POST', `/issues/${pull.number}/comments`, { body })
}

const pageOf = (publicUrl: string): string =>
  `${publicUrl.replace(/\/+$/, '')}/changes?tab=catalog&view=repository`

function sentenceOf({ outcome, creates, updates, deletes, reason }: HistoryRow): string {
  if (outcome === 'applied' || outcome === 'rolled_back') {
    const did = outcome === 'applied' ? 'Applied' : 'Rolled back to'
    return creates + updates + deletes === 0
      ? `${did}: nothing to change`
      : `${did}: ${creates} created, ${updates} changed, ${deletes} deleted`
  }
  const word = { failed: 'Failed', drifted: 'Drifted', held: 'Not applied' }[outcome]
  return reason === null ? word : `${word}: ${reason}`
}

/** What comes of files and instances is quoted: it is Markdown to who reads it. */
function commentOf({ entry, commit, instance, publicUrl }: ToldCommit): string {
  const link = publicUrl === null ? instance : `[${instance}](${pageOf(publicUrl)})`
  const lines = sentenceOf(entry).replaceAll('`', "'")
  const set = entry.changeSet === null ? '' : `, change set ${entry.changeSet}`
  return `**svc** on ${link}, commit ${commit.id.slice(0, 10)}${set}\n\n\`\`\`text\n${lines}\n\`\`\``
}
