/**
 * Webhook deliveries of GitHub (SPEC.md, Inbound events 2): of each kind of event a type, a sentence, its own
 * time and the labels that tell whom and what it is about. The names of actions are those of the github
 * connector, so that a pull request that was merged says so.
 */
import { ownField } from '../../../schemas/fields-of.ts'
import { countWords } from '../../../schemas/plain-words.ts'
import { oneLine } from '../../log/ingest/label.ts'
import { objectOf, scalar } from '../connectors/connector.ts'

const TEXT_MAX = 300
const KEY = 'key'

export interface Delivery {
  /** `push`, `pull_request.opened`. */
  eventType: string
  text: string
  eventTime?: string | number
  stamped: Record<string, string>
  entityLabel: string
}

/**
 * @param event of the header X-GitHub-Event. @param value the whole payload.
 * @returns null where they are none of GitHub's.
 */
export function deliveryOf(event: string, value: unknown): Delivery | null {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(event) || Array.isArray(value) || objectOf(value) !== value) return null
  const payload = objectOf(value)
  const action = actionOf(event, payload)
  const repository = at(payload, 'repository.full_name')
  const said = sentenceOf(event, payload, action)
  const eventTime = momentOf(event, payload, action)
  return {
    eventType: action === '' ? event : `${event}.${action}`,
    text: oneLine(repository === '' ? said : `${repository}: ${said}`, TEXT_MAX),
    ...(eventTime === undefined ? {} : { eventTime }),
    stamped: labelsOf(payload, repository, action),
    entityLabel: KEY,
  }
}

/** GitHub closes a pull request that is merged; that it was merged is a field. */
function actionOf(event: string, payload: Record<string, unknown>): string {
  const action = typeof payload.action === 'string' ? payload.action : ''
  const isMerged = event === 'pull_request' && objectOf(payload.pull_request).merged === true
  return action === 'closed' && isMerged ? 'merged' : action
}

/** What has a number of its repository. */
const NUMBERED = ['pull_request', 'issue', 'discussion']

function labelsOf(
  payload: Record<string, unknown>,
  repository: string,
  action: string,
): Record<string, string> {
  const number = NUMBERED.map((name) => at(payload, `${name}.number`)).find((text) => text !== '') ?? ''
  const organization = at(payload, 'organization.login') || at(payload, 'installation.account.login')
  const all = {
    [KEY]: repository === '' ? organization : `${repository}${number && `#${number}`}`,
    repository,
    actor: at(payload, 'sender.login') || (scalar(objectOf(payload.pusher).name) ?? ''),
    number,
    action,
  }
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== ''))
}

/* When what a delivery tells happened, by its payload. */

type Fields = Record<string, unknown>

/** Where the thing an event is about lies, where that is not a field of the event's name. */
const ABOUT: Record<string, readonly string[]> = {
  branch_protection_rule: ['rule'],
  code_scanning_alert: ['alert'],
  commit_comment: ['comment'],
  dependabot_alert: ['alert'],
  deploy_key: ['key'],
  deployment_review: ['workflow_run'],
  discussion_comment: ['comment'],
  fork: ['forkee'],
  issue_comment: ['comment'],
  issues: ['issue'],
  merge_group: ['merge_group.head_commit'],
  meta: ['hook'],
  page_build: ['build'],
  ping: ['hook'],
  pull_request_review: ['review'],
  pull_request_review_comment: ['comment'],
  pull_request_review_thread: ['pull_request'],
  pull_request_target: ['pull_request'],
  public: ['repository'],
  repository_vulnerability_alert: ['alert'],
  status: [''],
  star: [''],
  watch: ['repository'],
}

/** Field that holds the time of an action, where it is not the action and _at. */
const FIELD_OF: Record<string, string> = {
  opened: 'created_at',
  in_progress: 'started_at',
  queued: 'created_at',
  waiting: 'created_at',
  requested: 'created_at',
  closed_by_user: 'dismissed_at',
  dismiss: 'dismissed_at',
  create: 'created_at',
}
/** What was done to a thing that is gone has no time in it: its own times are those of its life. */
const GONE = new Set(['deleted', 'removed', 'removed_from_repository'])
/** Times of refs and pushes, which have no thing of their own. */
const PUSHES = new Set(['push', 'create', 'delete'])
/** Epoch times below this are seconds. */
const SECONDS_BELOW = 1e11

/** @returns ISO 8601 text or epoch milliseconds; undefined where the payload has no time of it. */
function momentOf(event: string, payload: Fields, action: string): string | number | undefined {
  if (PUSHES.has(event)) {
    const { pushed_at: pushed } = objectOf(payload.repository)
    return timeIn(pushed) ?? timeIn(objectOf(payload.head_commit).timestamp)
  }
  if (GONE.has(action)) return undefined
  for (const path of ownField(ABOUT, event) ?? [event]) {
    const thing =
      path === '' ? payload : path.split('.').reduce<Fields>((inner, name) => objectOf(inner[name]), payload)
    const fields = [
      ownField(FIELD_OF, action) ?? `${action}_at`,
      'starred_at',
      'updated_at',
      'timestamp',
      'submitted_at',
      ...(action === 'created' ? ['started_at'] : []),
      'created_at',
    ]
    for (const field of fields) {
      const time = timeIn(thing[field])
      if (time !== undefined) return time
    }
  }
  return undefined
}

function timeIn(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value < SECONDS_BELOW ? value * 1_000 : value
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? value : undefined
}

/*
 * What a webhook delivery of GitHub says, in one sentence: who did what to which thing. Kinds of event that
 * read better in their own words have them; any other, those to come included, says its action and its thing.
 */

type Say = (payload: Fields, action: string) => string | undefined

const SHA = 7

/** The text at a path of plain names; empty where there is none. */
function at(payload: Fields, path: string): string {
  let value: unknown = payload
  for (const name of path.split('.')) value = objectOf(value)[name]
  return scalar(value) ?? ''
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]!.trim()
/** Parts that are there, with a space between. */
const words = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ')
const after = (mark: string, text: string): string => (text === '' ? '' : `${mark}${text}`)
const branchOf = (ref: string): string => ref.replace(/^refs\/(heads|tags)\//, '')
const spaced = (name: string): string => name.replaceAll('_', ' ')

/** @returns the sentence without the repository, which is added where there is room. */
function sentenceOf(event: string, payload: Fields, action: string): string {
  return ownField(OWN, event)?.(payload, action) || general(event, payload, action)
}

/** "Codertocat created label bug". */
function general(event: string, payload: Fields, action: string): string {
  const thing = ownField(THINGS, event) ?? { is: spaced(event), name: [event] }
  const paths = thing.name.flatMap((path) => NAMES.map((name) => `${path}.${name}`))
  const name = [...thing.name, ...paths]
    .map((path) => firstLine(at(payload, path)))
    .find((text) => text !== '')
  const done = ownField(DONE, action) ?? (spaced(action) || 'sent')
  return words(at(payload, 'sender.login') || 'GitHub', done, thing.is, name ?? '')
}

/** What a thing is called by, the most telling first. */
const NAMES = ['title', 'full_name', 'name', 'login', 'slug', 'summary', 'description', 'pattern', 'id']

/** What an event is about, and where its payload names it. */
const THINGS: Record<string, { is: string; name: string[] }> = {
  branch_protection_rule: { is: 'branch protection rule', name: ['rule'] },
  code_scanning_alert: { is: 'code scanning alert', name: ['alert.rule'] },
  dependabot_alert: {
    is: 'Dependabot alert',
    name: ['alert.security_advisory.summary', 'alert.dependency.package'],
  },
  deploy_key: { is: 'deploy key', name: ['key'] },
  installation: { is: 'installation of app', name: ['installation.app_slug', 'installation.account'] },
  label: { is: 'label', name: ['label'] },
  marketplace_purchase: { is: 'plan', name: ['marketplace_purchase.plan'] },
  meta: { is: 'webhook', name: ['hook.name', 'hook_id'] },
  package: { is: 'package', name: ['package'] },
  registry_package: { is: 'package', name: ['registry_package'] },
  project_card: { is: 'project card', name: ['project_card.note', 'project_card.id'] },
  project_column: { is: 'project column', name: ['project_column'] },
  projects_v2_item: { is: 'project item', name: ['projects_v2_item.content_type'] },
  repository_vulnerability_alert: { is: 'vulnerability alert on', name: ['alert.affected_package_name'] },
  security_advisory: { is: 'security advisory', name: ['security_advisory'] },
  sponsorship: { is: 'sponsorship of', name: ['sponsorship.sponsorable'] },
}

/** How many, in words. */
const count = (list: unknown, one: string): string => countWords(Array.isArray(list) ? list.length : 0, one)

const push: Say = (payload) => {
  const [who, ref] = [at(payload, 'pusher.name') || at(payload, 'sender.login'), at(payload, 'ref')]
  const name = words(ref.startsWith('refs/tags/') ? 'tag' : '', branchOf(ref))
  if (payload.deleted === true) return `${who} deleted ${name}`
  const commits = Array.isArray(payload.commits) ? payload.commits : []
  const title = firstLine(at(payload, 'head_commit.message'))
  if (commits.length === 0) return `${who} pushed ${name}${after(': ', title)}`
  const forced = payload.forced === true ? 'force-pushed' : 'pushed'
  return `${who} ${forced} ${count(commits, 'commit')} to ${name}${after(': ', title)}`
}

/** Actions that do not say what was done as they stand. */
const DONE: Record<string, string> = {
  suspend: 'suspended',
  unsuspend: 'unsuspended',
  new_permissions_accepted: 'accepted new permissions of',
  pending_tier_change: 'asked for another tier of the',
  closed_by_user: 'closed',
  create: 'reported',
  dismiss: 'dismissed',
  resolve: 'resolved',
  synchronize: 'got new commits',
  ready_for_review: 'is ready for review',
  converted_to_draft: 'became a draft',
  auto_merge_enabled: 'merges by itself when it can',
}

/** "PR #12 opened: Title (author)", as the github connector says it. */
const pullRequest: Say = (payload, action) => {
  const of = (name: string) => at(payload, `pull_request.${name}`)
  const head = `PR #${of('number')}`
  const title = firstLine(of('title'))
  if (action === 'merged') return `${head} merged into ${of('base.ref')}: ${title}`
  const with_ =
    at(payload, 'label.name') || at(payload, 'assignee.login') || at(payload, 'requested_reviewer.login')
  return `${head} ${words(ownField(DONE, action) ?? spaced(action), with_)}: ${title} (${of('user.login')})`
}

const issue: Say = (payload, action) => {
  const of = (name: string) => at(payload, `issue.${name}`)
  const with_ = at(payload, 'label.name') || at(payload, 'assignee.login')
  return `Issue #${of('number')} ${words(spaced(action), with_)}: ${firstLine(of('title'))} (${of('user.login')})`
}

const comment =
  (where: (payload: Fields) => string): Say =>
  (payload, action) => {
    const said = firstLine(at(payload, 'comment.body'))
    const did = action === 'created' ? 'commented' : `${spaced(action)} a comment`
    return `${at(payload, 'sender.login')} ${did} on ${where(payload)}${after(': ', said)}`
  }
const pullOf = (payload: Fields): string => `PR #${at(payload, 'pull_request.number')}`

/** "CI build: success" of a check, a job or a run of a workflow. */
const run =
  (path: string, noun: string, names: readonly string[]): Say =>
  (payload, action) => {
    const name = names.map((one) => at(payload, `${path}.${one}`)).find((text) => text !== '') ?? ''
    const branch = at(payload, `${path}.head_branch`) || at(payload, `${path}.check_suite.head_branch`)
    const ended = action === 'completed' ? at(payload, `${path}.conclusion`) : ''
    const place = after(' on ', branch) || after(' at ', at(payload, `${path}.head_sha`).slice(0, SHA))
    return `${words(noun, name)} ${spaced(ended || action)}${place}`
  }

const REVIEWED: Record<string, string> = { approved: 'approved', changes_requested: 'changes requested' }

const deployment = (payload: Fields): string =>
  `Deployment to ${at(payload, 'deployment.environment') || at(payload, 'environment') || 'an environment'}`

const OWN: Record<string, Say> = {
  push,
  pull_request: pullRequest,
  pull_request_target: pullRequest,
  issues: issue,
  issue_comment: comment(
    (payload) =>
      `${payload.issue && objectOf(payload.issue).pull_request ? 'PR' : 'issue'} #${at(payload, 'issue.number')}`,
  ),
  commit_comment: comment((payload) => `commit ${at(payload, 'comment.commit_id').slice(0, SHA)}`),
  discussion_comment: comment((payload) => `discussion #${at(payload, 'discussion.number')}`),
  pull_request_review_comment: comment(pullOf),
  pull_request_review: (payload, action) => {
    const state = at(payload, 'review.state').toLowerCase()
    const done =
      action === 'submitted' ? (ownField(REVIEWED, state) ?? 'reviewed') : `review ${spaced(action)}`
    return `${pullOf(payload)} ${done} by ${at(payload, 'review.user.login')}${after(': ', firstLine(at(payload, 'review.body')))}`
  },
  pull_request_review_thread: (payload, action) =>
    `${pullOf(payload)}: review thread ${action} by ${at(payload, 'sender.login')}`,
  release: (payload, action) =>
    `Release ${at(payload, 'release.tag_name')} ${spaced(action)}${after(': ', firstLine(at(payload, 'release.name')))} (${at(payload, 'release.author.login')})`,
  check_run: run('check_run', 'Check', ['name']),
  check_suite: run('check_suite', 'Check suite', ['app.name', 'id']),
  workflow_job: run('workflow_job', 'Job', ['name']),
  workflow_run: run('workflow_run', 'Workflow', ['name', 'display_title']),
  workflow_dispatch: (payload) =>
    `${at(payload, 'sender.login')} started workflow ${at(payload, 'workflow')} on ${branchOf(at(payload, 'ref'))}`,
  repository_dispatch: (payload, action) =>
    `${at(payload, 'sender.login')} dispatched ${action} on ${at(payload, 'branch')}`,
  status: (payload) =>
    `${at(payload, 'context')} is ${at(payload, 'state')} for ${at(payload, 'sha').slice(0, SHA)}${after(': ', firstLine(at(payload, 'description')))}`,
  deployment: (payload) =>
    `${deployment(payload)} of ${branchOf(at(payload, 'deployment.ref'))} created by ${at(payload, 'sender.login')}`,
  deployment_status: (payload) =>
    `${deployment(payload)} is ${spaced(at(payload, 'deployment_status.state'))}${after(': ', firstLine(at(payload, 'deployment_status.description')))}`,
  deployment_review: (payload) =>
    `${deployment(payload)} needs a review, asked by ${at(payload, 'requestor.login') || at(payload, 'sender.login')}`,
  create: (payload) =>
    `${at(payload, 'sender.login')} created ${at(payload, 'ref_type')} ${at(payload, 'ref')}`,
  delete: (payload) =>
    `${at(payload, 'sender.login')} deleted ${at(payload, 'ref_type')} ${at(payload, 'ref')}`,
  fork: (payload) => `${at(payload, 'sender.login')} forked it to ${at(payload, 'forkee.full_name')}`,
  gollum: ({ pages, ...payload }) => {
    const [page] = Array.isArray(pages) ? pages.map(objectOf) : []
    return `${at(payload, 'sender.login')} ${scalar(page?.action) ?? 'edited'} wiki page ${scalar(page?.title) ?? ''}`
  },
  page_build: (payload) =>
    `Pages build is ${at(payload, 'build.status')}${after(': ', firstLine(at(payload, 'build.error.message')))}`,
  ping: (payload) => `GitHub says hello: ${at(payload, 'zen')}`,
  public: (payload) => `${at(payload, 'sender.login')} made the repository public`,
  star: (payload, action) =>
    `${at(payload, 'sender.login')} ${action === 'deleted' ? 'unstarred' : 'starred'} it`,
  watch: (payload) => `${at(payload, 'sender.login')} starred it`,
  repository_import: (payload) => `Import of the repository: ${at(payload, 'status')}`,
  github_app_authorization: (payload, action) =>
    `${at(payload, 'sender.login')} ${action} the authorization of the app`,
  installation_repositories: (payload, action) =>
    `${at(payload, 'sender.login')} ${action} ${count(payload[`repositories_${action}`], 'repository').replace('repositorys', 'repositories')} ${action === 'removed' ? 'from' : 'to'} the installation`,
  member: (payload, action) =>
    `${at(payload, 'sender.login')} ${action} collaborator ${at(payload, 'member.login')}`,
  membership: (payload, action) =>
    `${at(payload, 'sender.login')} ${action} ${at(payload, 'member.login')} ${action === 'removed' ? 'from' : 'to'} team ${at(payload, 'team.name')}`,
  merge_group: (payload) =>
    `Merge queue asks for checks of ${at(payload, 'merge_group.head_sha').slice(0, SHA)}: ${firstLine(at(payload, 'merge_group.head_commit.message'))}`,
  organization: (payload, action) =>
    words(
      at(payload, 'sender.login'),
      action === 'member_invited' ? 'invited' : spaced(action).replace(/^member /, ''),
      at(payload, 'invitation.login') || at(payload, 'membership.user.login') || 'the organization',
    ),
  org_block: (payload, action) =>
    `${at(payload, 'sender.login')} ${action} ${at(payload, 'blocked_user.login')}`,
  discussion: (payload, action) =>
    `Discussion #${at(payload, 'discussion.number')} ${words(spaced(action), at(payload, 'label.name'))}: ${firstLine(at(payload, 'discussion.title'))}`,
  team: (payload, action) =>
    `${at(payload, 'sender.login')} ${action === 'added_to_repository' ? 'gave the repository to' : action === 'removed_from_repository' ? 'took the repository from' : spaced(action)} team ${at(payload, 'team.name')}`,
  team_add: (payload) =>
    `${at(payload, 'sender.login')} gave the repository to team ${at(payload, 'team.name')}`,
}
