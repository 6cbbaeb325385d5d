/**
 * Tells GitHub what became of a commit: a status of the commit, and one comment on the pull request that brought it,
 * which is written over by the next. Only where a stored credential is named, and only of the newest entry.
 */
import type { CatalogCommit, GithubConfig } from '../../schemas/types.ts'
import type { UsableCredential } from '../model/credentials.ts'
import type { Egress } from '../net/fetch.ts'
import { repoOf } from '../sources/upstreams/github-api.ts'
import type { SyncPort } from './port.ts'
import type { Repository } from './repository.ts'
import type { HistoryRow } from './rows.ts'

export interface ReportParts {
  repository: Repository | null
  port: Pick<SyncPort, 'unreportedSync' | 'reportedSync'>
  egress: Pick<Egress, 'send'>
  /** Address of the console, for links; null: not known. */
  publicUrl: string | null
  onError(error: Error): void
}

const REQUEST_MS = 15_000
const ANSWER_BYTES = 2 * 1024 * 1024
/** GitHub's bound. */
const DESCRIPTION_MAX = 140

type GithubState = 'success' | 'failure' | 'pending'
const STATES: Readonly<Record<HistoryRow['outcome'], GithubState>> = {
  ...{ applied: 'success', rolled_back: 'success', failed: 'failure', drifted: 'failure', held: 'pending' },
}

/** @returns what reports the newest entry that was not reported; nothing where no credential is named */
export function createReport({
  repository,
  port,
  egress,
  publicUrl,
  onError,
}: ReportParts): () => Promise<void> {
  const name = repository?.credential ?? null
  const repo = repository ? repoOf(repository.address) : null
  if (!repository || name === null || repo === null) return async () => {}
  return async () => {
    const found = await port.unreportedSync(name)
    if (!found?.entry.commit) return
    const { entry, credential } = found
    const github = githubAt(egress, credential, repo)
    const told = { entry, commit: entry.commit!, instance: repository.instance, publicUrl }
    try {
      await sendStatus(github, told)
      await sendComment(github, told)
    } catch (error) {
      // One that GitHub refuses for good is not sent again with each look.
      if (!(error instanceof Refused)) throw error
      onError(error)
    }
    await port.reportedSync(entry.id)
  }
}

interface ToldCommit {
  entry: HistoryRow
  commit: CatalogCommit
  instance: string
  publicUrl: string | null
}

class Refused extends Error {}

type Github = (method: string, path: string, body?: object) => Promise<unknown>

function githubAt(
  egress: Pick<Egress, 'send'>,
  { apiUrl, token }: UsableCredential,
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
    if (!answer.ok) throw new Error(`GitHub cannot be told of the commit: ${answer.message}`)
    if (answer.status < 300) return answer.body.length ? JSON.parse(answer.body.toString('utf8')) : null
    const told = `GitHub answered ${answer.status} to ${method} ${path.replace(/[0-9a-f]{40}/, 'COMMIT')}`
    if ([401, 403, 404, 410, 422].includes(answer.status))
      throw new Refused(`${told}; the credential needs the right to write statuses and comments`)
    throw new Error(told)
  }
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
