/** Slack as the environment says it. */
export interface SlackEnvironment {
  /** Null: unset, as with the others. */
  botToken: string | null
  signingSecret: string | null
  /** Base address of the Web API, without a slash at its end. */
  apiUrl: string
  /** Address people reach the daemon at; without it messages have no buttons. */
  publicUrl: string | null
}

export const emptySlackEnvironment: SlackEnvironment = {
  botToken: null,
  signingSecret: null,
  apiUrl: 'https://slack.com/api',
  publicUrl: null,
}

export const BOT_TOKEN_VARIABLE = 'SVC_SLACK_BOT_TOKEN'
export const SIGNING_SECRET_VARIABLE = 'SVC_SLACK_SIGNING_SECRET'
