/** Commits and pull requests of a repository on GitHub (SPEC.md, Sources and labels 4). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import type { GithubConfig, Label } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import { oneLine } from '../../log/ingest/label.ts'
import type { Item, MappedEvent, PollConnector, Polled, Reach } from '../connectors/connector.ts'
import {
  type CommitsPlace,
  listOf,
  openApi,
  type PullsPlace,
  readCommits,
  readPulls,
  repoFaults,
  repoOf,
  repositoryOf,
  tokenFaults,
} from './github-api.ts'

export const github: PollConnector = {
  kind: 'github',
  label: 'GitHub repository',
  mode: 'poll',
  description:
    'Commits of a branch with the files they change, and pull requests opened, merged, closed or reopened. It is asked, so nothing has to reach this service from outside.',
  sourceType: 'event_stream',
  configSchema: 'connector-github.json',
  provides: [
    { name: 'key', help: 'owner/name of a commit, owner/name#number of a pull request.', primary: true },
    { name: 'repo', help: 'owner/name.' },
    { name: 'author', help: 'Account of the author; of a commit without one, the name.' },
    { name: 'branch', help: 'Branch of a commit, or that a pull request comes from.' },
    { name: 'action', help: 'opened, merged, closed or reopened, of a pull request.' },
    { name: 'number', help: 'Number of a pull request.' },
    { name: 'base', help: 'Branch a pull request goes to.' },
    { name: 'state', help: 'open or closed, of a pull request.' },
    { name: 'draft', help: 'true or false, of a pull request.' },
    { name: 'sha', help: 'Commit, or head of a pull request.' },
    { name: 'title', help: 'First line of a commit, or title of a pull request.' },
    { name: 'url', help: 'Its page on GitHub.' },
  ],
  suggestedPoll: '2m',
  minPollMs: 10_000,
  identity: ['repo', 'branch', 'api_url'],
  validate: (config) => [
    ...repoFaults(config as Partial<GithubConfig>),
    ...tokenFaults(config as Partial<GithubConfig>),
  ],
  compile: (config) => compileItems(config as Partial<GithubConfig>),
  poll: (config: FieldsOf<GithubConfig>, cursor, reach) => pollRepository(config, cursor, reach),
  discover: discoverRepository,
}

/* What a repository is, and a config that reads it. */

const COMMITS = 10
const AUTHORS_TOLD = 8

const LABELS: readonly Label[] = [
  { name: 'key', field: 'key', primary: true },
  { name: 'repo', field: 'repo' },
  { name: 'author', field: 'author' },
  { name: 'branch', field: 'branch' },
]

/** @throws UpstreamError; SvcError invalid, naming the field */
async function discoverRepository(
  given: Record<string, unknown>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { labels: declared, ...known } = given
  const fault = check('connector-github.json', known)
  if (fault) fail('invalid', fault, { field: 'config' })
  const config = known as FieldsOf<GithubConfig>
  const faults = repoFaults(config)
  if (faults.length) fail('invalid', faults.join('; '), { field: 'config' })
  const api = openApi(config, reach)
  const repository = await repositoryOf(api)
  const { branch = repository.branch } = config
  const path = `/commits?sha=${encodeURIComponent(branch)}&per_page=${COMMITS}`
  const page = await api.get(path, { allow: [404, 409] })
  if (page.status === 404) fail('invalid', `${api.repo} has no branch ${branch}`, { field: 'config.branch' })
  const commits = page.status === 409 ? [] : listOf<Listed>(page, ({ sha }) => typeof sha === 'string')
  const authors = [...new Set(commits.flatMap(authorOf))].slice(0, AUTHORS_TOLD)
  const { token: _secret, api_url: address, ...shown } = config
  return {
    connector: 'github',
    summary: `${api.repo}, ${repository.isPrivate ? 'private' : 'public'}: ${
      commits.length ? `branch ${branch}, ${lastOf(commits)}` : 'no commit yet'
    }.`,
    recent_authors: authors,
    proposed_config: {
      ...shown,
      // A credential brings its address along.
      ...(address === undefined || config.credential ? {} : { api_url: address }),
      repo: api.repo,
      branch,
      // What a person declared is better than a guess.
      labels: Array.isArray(declared) && declared.length ? declared : LABELS,
    },
  }
}

interface Listed {
  sha: string
  author?: { login?: string } | null
  commit?: { author?: { name?: string; date?: string } | null }
}

function authorOf({ author, commit }: Listed): string[] {
  const name = author?.login ?? commit?.author?.name
  return name ? [name] : []
}

function lastOf(commits: readonly Listed[]): string {
  const at = commits[0]?.commit?.author?.date
  return at ? `last commit ${at.slice(0, 10)}` : countWords(commits.length, 'commit')
}

/* From a commit or a pull request to an event. */

const TEXT_MAX = 300
const TITLE_MAX = 256
const KEY = 'key'

type Fields = Record<string, unknown>

/** Every event has its facts as labels, whatever is declared; a declared label of the same name wins. */
function compileItems(config: Partial<GithubConfig>): (item: Item) => MappedEvent[] {
  const repo = repoOf(config.repo ?? '') ?? ''
  return ({ value }) => {
    const payload = objectOf(value)
    return [payload.base && payload.number ? pullEvent(payload, repo) : commitEvent(payload, repo)]
  }
}

function commitEvent(payload: Fields, repo: string): MappedEvent {
  const { author, message } = objectOf(payload.commit)
  const written = objectOf(author)
  const sha = textOf(payload.sha)
  // An author whose address belongs to no account is null.
  const login = textOf(objectOf(payload.author).login) || textOf(written.name)
  const title = textOf(message).split('\n')[0]!
  return {
    eventType: 'commit',
    text: oneLine(`${sha.slice(0, 7)} ${login}: ${title}`, TEXT_MAX),
    ...timeOf(written.date),
    ...labelled(payload, {
      [KEY]: repo,
      repo,
      author: login,
      branch: textOf(payload._branch),
      sha,
      url: textOf(payload.html_url),
      title: oneLine(title, TITLE_MAX),
    }),
    ...(sha ? { dedupeKey: `commit ${sha}` } : {}),
  }
}

function pullEvent(payload: Fields, repo: string): MappedEvent {
  const { number, updated_at: updated, created_at: created } = payload
  const [action, title] = [textOf(payload._action), textOf(payload.title)]
  const [head, base] = [objectOf(payload.head), textOf(objectOf(payload.base).ref)]
  const author = textOf(objectOf(payload.user).login)
  const closed = payload.merged_at ?? payload.closed_at
  const time = action === 'opened' ? created : action === 'reopened' ? updated : (closed ?? updated)
  const said = action === 'merged' ? `merged into ${base}: ${title}` : `${action}: ${title} (${author})`
  return {
    eventType: 'pull_request',
    text: oneLine(`PR #${number} ${said}`, TEXT_MAX),
    ...timeOf(time),
    ...labelled(payload, {
      [KEY]: `${repo}#${number}`,
      repo,
      action,
      number: String(number),
      author,
      branch: textOf(head.ref),
      base,
      state: textOf(payload.state),
      draft: String(payload.draft === true),
      sha: textOf(head.sha),
      url: textOf(payload.html_url),
      title: oneLine(title, TITLE_MAX),
    }),
    dedupeKey: `pull ${number} ${action} ${String(time)}`,
  }
}

function labelled(payload: Fields, all: Record<string, string>) {
  const stamped = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  // author and base are objects of the payload too, whose own fields stay readable.
  const hidden = Object.keys(stamped).flatMap((name) =>
    Object.entries(objectOf(payload[name])).map(([inner, value]) => [`${name}.${inner}`, value]),
  )
  return {
    context: { ...payload, ...Object.fromEntries(hidden), ...stamped },
    stamped,
    entityLabel: KEY,
  }
}

const timeOf = (time: unknown) => (typeof time === 'string' ? { eventTime: time } : {})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const objectOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {}

/* One poll of a repository: its new commits, then what happened to its pull requests. */

interface Place {
  commits: CommitsPlace
  /** Null: they are not read, or were not yet. */
  pulls: PullsPlace | null
}

/** @throws UpstreamError */
async function pollRepository(config: GithubConfig, cursor: string | null, reach: Reach): Promise<Polled> {
  const place = cursor === null ? null : (JSON.parse(cursor) as Place)
  const before = config.prs === false ? null : (place?.pulls ?? null)
  const api = openApi(config, reach)
  const commits = await readCommits(api, config, place?.commits ?? null)
  // While commits are behind, a poll has no time for both.
  const pulls =
    config.prs === false || commits.more
      ? { items: [], place: before, notices: [] }
      : await readPulls(api, before)
  const next: Place = { commits: commits.place, pulls: pulls.place }
  const notices = [...commits.notices, ...pulls.notices]
  return {
    items: [...commits.items, ...pulls.items].map((item) => JSON.stringify(item)),
    cursor: JSON.stringify(next),
    ...(commits.more ? { more: true } : {}),
    ...(notices.length ? { notice: notices.join(' ') } : {}),
  }
}
