/** Subscriptions, seen from a trigger. */
import type { Subscription, Trigger } from '../../schemas/types.ts'

/** Forms in which firings are posted, as people call them. */
export const FORMATS: Readonly<Record<Subscription['format'], string>> = {
  svc: 'JSON, signed',
  slack: 'Slack or Mattermost',
  teams: 'Microsoft Teams',
  discord: 'Discord',
  google_chat: 'Google Chat',
  pagerduty: 'PagerDuty',
}

/** Whether it is told of this trigger: by its name, or with everything of a project that uses it. */
export function tells(
  { trigger, project }: Pick<Subscription, 'trigger' | 'project'>,
  { name, projects }: Pick<Trigger, 'name' | 'projects'>,
): boolean {
  return trigger === null ? project !== null && projects.includes(project) : trigger === name
}

/** Whether it can be posted to: a URL, or a channel of Slack by its name, #shop-ops. */
export const isAddress = (typed: string): boolean =>
  /^(https?:\/\/\S+|slack:\/\/channel\/\S+|#\S+)$/.test(typed.trim())
