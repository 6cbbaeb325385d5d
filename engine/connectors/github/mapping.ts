/** From a commit or a pull request to an event. */
import type { GithubConfig } from '../../../schemas/types.ts'
import { oneLine } from '../../ingest/template.ts'
import type { Item, MappedEvent } from '../connector.ts'
import { repoOf } from './repo.ts'

const TEXT_MAX = 300
const TITLE_MAX = 256
const KEY = 'key'

type Fields = Record<string, unknown>

/** Every event has its facts as labels, whatever is declared; a declared label of the same name wins. */
export function compileItems(config: Partial<GithubConfig>): (item: Item) => MappedEvent[] {
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
