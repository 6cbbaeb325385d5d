/** The Slack app that svc needs, as the manifest that Slack makes one of, and why it asks for each scope. */
import type { SlackManifest } from '../../schemas/types.ts'

/** A scope of the bot, and what is not there without it. */
export interface ScopeWhy {
  scope: string
  why: string
}

/** Those of SPEC.md (Settings, Slack) first; the others are what threads, mentions and rights take. */
export const BOT_SCOPES: readonly ScopeWhy[] = [
  { scope: 'chat:write', why: 'posts and changes its messages' },
  { scope: 'chat:write.public', why: 'posts to public channels it is not in' },
  { scope: 'channels:read', why: 'lists public channels' },
  { scope: 'groups:read', why: 'lists private channels it is in' },
  { scope: 'commands', why: 'the command /svc' },
  { scope: 'app_mentions:read', why: 'hears questions that mention it' },
  {
    scope: 'channels:history',
    why: 'looks whether a message is there before it posts it again after a stop, in public channels',
  },
  { scope: 'groups:history', why: 'the same in private channels it is in' },
  { scope: 'users:read', why: 'needed by users:read.email' },
  { scope: 'users:read.email', why: 'finds people who are mapped to rights by e-mail address' },
]

const EVENTS = [
  ...['app_mention', 'channel_archive', 'channel_created', 'channel_deleted', 'channel_rename'],
  ...['channel_unarchive', 'group_archive', 'group_rename', 'group_unarchive', 'member_joined_channel'],
]
const EVENTS_PATH = '/api/slack/events'

/** Where Slack sends what happens there; null: the address of this instance is not known. */
export const requestUrl = (publicUrl: string | null): string | null =>
  publicUrl === null ? null : `${publicUrl.replace(/\/+$/, '')}${EVENTS_PATH}`

/** @param publicUrl address of this instance; null: the manifest has a placeholder */
export function slackManifest(publicUrl: string | null): SlackManifest {
  const url = requestUrl(publicUrl) ?? `https://svc.example.com${EVENTS_PATH}`
  return {
    request_url: requestUrl(publicUrl),
    scopes: BOT_SCOPES.map((one) => ({ ...one })),
    manifest: {
      display_information: {
        name: 'svc',
        description: 'Incidents, findings and questions about what happens',
      },
      features: {
        bot_user: { display_name: 'svc', always_online: true },
        slash_commands: [
          {
            command: '/svc',
            url,
            description: 'Ask what happened',
            usage_hint: 'what changed for checkout since noon?',
            should_escape: false,
          },
        ],
      },
      oauth_config: { scopes: { bot: BOT_SCOPES.map(({ scope }) => scope) } },
      settings: {
        event_subscriptions: { request_url: url, bot_events: EVENTS },
        interactivity: { is_enabled: true, request_url: url },
        org_deploy_enabled: false,
        socket_mode_enabled: false,
        token_rotation_enabled: false,
      },
    },
  }
}

/** @param granted as Slack says with an answer; absent: it did not say, so none is missed */
export const missingScopes = (granted: readonly string[] | undefined): ScopeWhy[] =>
  granted === undefined ? [] : BOT_SCOPES.filter(({ scope }) => !granted.includes(scope))
