/** When what a delivery tells happened, by its payload. */
import { objectOf } from '../../scalar.ts'

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
export function momentOf(event: string, payload: Fields, action: string): string | number | undefined {
  if (PUSHES.has(event)) {
    const { pushed_at: pushed } = objectOf(payload.repository)
    return timeIn(pushed) ?? timeIn(objectOf(payload.head_commit).timestamp)
  }
  if (GONE.has(action)) return undefined
  for (const path of ABOUT[event] ?? [event]) {
    const thing =
      path === '' ? payload : path.split('.').reduce<Fields>((inner, name) => objectOf(inner[name]), payload)
    const fields = [
      FIELD_OF[action] ?? `${action}_at`,
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
