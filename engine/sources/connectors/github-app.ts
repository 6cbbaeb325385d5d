/**
 * The webhook of a GitHub App: one source for all repositories in which the app is installed (SPEC.md, Inbound events 2).
 * Its events are those of the github connector, and all other kinds that GitHub delivers; whatever reads pull requests of
 * the one reads them of the other.
 */
import type { GithubAppConfig } from '../../../schemas/types.ts'
import { oneLine, summarise } from '../../log/ingest/label.ts'
import { deliveryOf } from '../upstreams/github-deliveries.ts'
import { type Item, type MappedEvent, objectOf, type PushConnector, scalar } from './connector.ts'

const EVENT = 'x-github-event'
const DELIVERY = 'x-github-delivery'
/** What has neither kind nor payload of GitHub, such as a body that was sent by hand. */
const OTHER = 'delivery'
const KEY = 'key'
const TITLE_MAX = 256

export const githubApp: PushConnector = {
  kind: 'github_app',
  label: 'GitHub App',
  mode: 'push',
  description:
    'Everything GitHub tells an app of the repositories it is installed in: pushes, pull requests, reviews, comments, issues, releases, checks, workflows and all other kinds, by the one webhook of the app. Deliveries must be signed.',
  sourceType: 'event_stream',
  configSchema: 'connector-github-app.json',
  signatureScheme: 'github',
  wantsHeaders: true,
  labels: [
    { name: KEY, field: KEY, primary: true },
    { name: 'repo', field: 'repo' },
    { name: 'author', field: 'author' },
    { name: 'branch', field: 'branch' },
  ],
  provides: [
    {
      name: KEY,
      help: 'owner/name#number of a pull request, issue or discussion; else owner/name, or the organisation.',
      primary: true,
    },
    { name: 'repo', help: 'owner/name; repository is the same.' },
    { name: 'actor', help: 'Account that did it.' },
    {
      name: 'author',
      help: 'Account that wrote what it is about: the pull request, the comment, the release.',
    },
    { name: 'action', help: 'What was done, such as opened or merged; absent where the kind says all.' },
    {
      name: 'number',
      help: 'Number of the pull request, issue or discussion; of a check the pull request it is of.',
    },
    { name: 'branch', help: 'Branch that was pushed, that a pull request comes from, or that a run is of.' },
    { name: 'base', help: 'Branch a pull request goes to.' },
    { name: 'sha', help: 'Commit: head of a push, of a pull request, of a run.' },
    { name: 'title', help: 'Title, or first line of the newest commit of a push.' },
    { name: 'url', help: 'Its page on GitHub.' },
    { name: 'state', help: 'State of a pull request or issue, or of a status.' },
    { name: 'draft', help: 'true or false, of a pull request.' },
    { name: 'conclusion', help: 'How a check, a job or a workflow ended.' },
    { name: 'workflow', help: 'Name of the workflow.' },
    { name: 'environment', help: 'Environment of a deployment.' },
    { name: 'release_tag', help: 'Tag of a release.' },
    { name: 'commits', help: 'How many commits were pushed.' },
  ],
  validate: ({ repositories = [] }: Partial<GithubAppConfig>) =>
    repositories
      .filter((one) => !PATTERN.test(one))
      .map((one) => `config.repositories: ${one} must be owner/name, or owner/* for all of an owner`),
  compile: (config) => compileDeliveries(config),
  note: (path) => `Name ${path} as the webhook URL of the app, with application/json; its ping shows here.`,
}

const PATTERN = /^[A-Za-z0-9_.-]{1,100}\/(\*|[A-Za-z0-9_.-]{1,100})$/

function compileDeliveries({
  repositories = [],
  events = [],
}: Partial<GithubAppConfig>): ReturnType<PushConnector['compile']> {
  const [wanted, kinds] = [repositories.map((one) => one.toLowerCase()), new Set(events)]
  const isWanted = (repo: string | undefined) => {
    if (wanted.length === 0 || repo === undefined) return true
    const name = repo.toLowerCase()
    return wanted.includes(name) || wanted.includes(`${name.split('/')[0]}/*`)
  }
  return (item, headers, index) => {
    const kind = headers?.[EVENT] ?? ''
    const event = eventOf(item, kind)
    // What a person left out is taken and not stored, so that GitHub does not tell of failures.
    const isLeftOut = (kinds.size > 0 && !kinds.has(kind)) || !isWanted(scalar(event.stamped?.repo))
    if (isLeftOut) return []
    const id = headers?.[DELIVERY]
    return [{ ...event, ...(id ? { dedupeKey: `${DELIVERY}:${id}:${index}` } : {}) }]
  }
}

function eventOf(item: Item, kind: string): MappedEvent {
  const whole = item.whole()
  const delivery = kind === '' ? null : deliveryOf(kind, whole)
  if (!delivery) return { eventType: OTHER, text: summarise(whole), context: objectOf(item.value) }
  const { text, eventTime, entityLabel } = delivery
  const payload = objectOf(item.value)
  const stamped = { ...delivery.stamped, ...factsOf(kind, payload) }
  // repository is an object of the payload, too, whose fields stay readable by their dotted names.
  const facts = Object.entries(stamped).filter(([name]) => !Object.hasOwn(payload, name))
  return {
    eventType: kind,
    text,
    ...(eventTime === undefined ? {} : { eventTime }),
    context: { ...payload, ...Object.fromEntries(facts) },
    ...{ stamped, entityLabel },
  }
}

type Fields = Record<string, unknown>

/** The text at the first of these paths that has one; empty: none has. */
function first(payload: Fields, ...paths: string[]): string {
  for (const path of paths) {
    let value: unknown = payload
    for (const name of path.split('.'))
      value = Array.isArray(value) ? value[Number(name)] : objectOf(value)[name]
    const text = scalar(value)
    if (text !== undefined && text !== '') return text
  }
  return ''
}

/** Where each kind has its runs. */
const RUNS = ['workflow_run', 'workflow_job', 'check_run', 'check_suite']
const ofRuns = (field: string): string[] => RUNS.map((name) => `${name}.${field}`)
const NO_COMMIT = /^0{40}$/

/** What the github connector says of commits and pull requests, of all kinds; what is empty is left out. */
function factsOf(kind: string, payload: Fields): Record<string, string> {
  const of = (...paths: string[]) => first(payload, ...paths)
  const ref = of('ref').replace(/^refs\/(heads|tags)\//, '')
  const isPush = kind === 'push'
  const sha = of(
    ...[
      'pull_request.head.sha',
      ...ofRuns('head_sha'),
      'deployment.sha',
      'comment.commit_id',
      'after',
      'sha',
    ],
  )
  const subject = ['pull_request', 'issue', 'discussion']
  const own = ['comment', 'review', ...subject, 'release']
  const all: Record<string, string> = {
    repo: of('repository.full_name'),
    author: of(
      ...own.flatMap((one) => [`${one}.user.login`, `${one}.author.login`]),
      'head_commit.author.username',
    ),
    number: of(
      ...subject.map((one) => `${one}.number`),
      ...['workflow_run', 'check_run', 'check_suite'].map((one) => `${one}.pull_requests.0.number`),
    ),
    branch:
      of(
        'pull_request.head.ref',
        ...ofRuns('head_branch'),
        'check_run.check_suite.head_branch',
        'deployment.ref',
      ) || (isPush || of('ref_type') !== '' ? ref : ''),
    base: of('pull_request.base.ref'),
    sha: NO_COMMIT.test(sha) ? '' : sha,
    title: oneLine(
      of(...subject.map((one) => `${one}.title`), 'release.name', 'workflow_run.display_title') ||
        of('head_commit.message').split('\n', 1)[0]!,
      TITLE_MAX,
    ),
    url: of(...own.map((one) => `${one}.html_url`), ...ofRuns('html_url'), 'head_commit.url', 'compare'),
    state: of(
      'pull_request.state',
      'issue.state',
      'deployment_status.state',
      ...(kind === 'status' ? ['state'] : []),
    ),
    draft: of('pull_request.draft'),
    conclusion: of(...ofRuns('conclusion')),
    workflow: of('workflow_run.name', 'workflow_job.workflow_name', 'workflow.name'),
    environment: of('deployment.environment'),
    release_tag: of('release.tag_name'),
    commits: isPush && Array.isArray(payload.commits) ? String(payload.commits.length) : '',
  }
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== ''))
}
