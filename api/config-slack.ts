/** Slack as the environment says it (SPEC.md, Settings: Slack). */
import type { SlackEnvironment } from '../engine/index.ts'
import { ConfigError, parseHttpUrl, parseToken } from './config-values.ts'
import { type Environment, readVariable } from './environment.ts'

const API_URL = 'https://slack.com/api'

/**
 * @param publicUrl address people reach the daemon at; null: messages have no buttons
 * @throws ConfigError naming the variable and the rule, never the value.
 */
export function loadSlack(env: Environment, publicUrl: string | null): SlackEnvironment {
  const read = <T>(name: string, parse: (value: string, from: string) => T): T | null => {
    const value = readVariable(env, name)
    return value === undefined ? null : parse(value, name)
  }
  return Object.freeze<SlackEnvironment>({
    botToken: read('SVC_SLACK_BOT_TOKEN', parseBotToken),
    signingSecret: read('SVC_SLACK_SIGNING_SECRET', parseToken),
    apiUrl: (read('SVC_SLACK_API_URL', parseHttpUrl) ?? API_URL).replace(/\/+$/, ''),
    publicUrl,
  })
}

function parseBotToken(value: string, from: string): string {
  const token = parseToken(value, from)
  if (!token.startsWith('xox')) throw new ConfigError(`${from} must be a bot token: it begins with xoxb-`)
  return token
}
