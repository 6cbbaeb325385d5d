/**
 * Webhook deliveries of GitHub (SPEC.md, Inbound events 2): of each kind of event a type, a sentence, its own
 * time and the labels that tell whom and what it is about. The names of actions are those of the github
 * connector, so that a pull request that was merged says so.
 */
import { oneLine } from '../../../ingest/template.ts'
import { objectOf, scalar } from '../../scalar.ts'
import { momentOf } from './moment.ts'
import { at, sentenceOf } from './sentence.ts'

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
