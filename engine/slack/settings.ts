/**
 * The bot token and the signing secret of Slack (SPEC.md, Settings: Slack). They go in and never out. The
 * environment wins over what the console stores: a deployment that sets them means them.
 */
import type { SlackSecret } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import type { Secrets } from '../secrets.ts'
import { openSettings } from '../settings/settings.ts'
import type { StoreHandle } from '../store/handle.ts'
import { BOT_TOKEN_VARIABLE, SIGNING_SECRET_VARIABLE, type SlackEnvironment } from './environment.ts'

/** What Slack is called with: not for doors. */
export interface SlackAccess {
  /** Null: none is set. */
  token: string | null
  apiUrl: string
}

/** A workspace, as Slack named it for the bot token. */
export interface SlackTeam {
  team: string
  /** Its address, such as https://acme.slack.com/. */
  url: string
}

export type SlackSecretName = 'bot_token' | 'signing_secret'

export interface SlackSettings {
  access(): SlackAccess
  signingSecret(): string | null
  describe(which: SlackSecretName): SlackSecret
  /** @throws SvcError invalid */
  store(which: SlackSecretName, value: string): SlackSecret
  forget(which: SlackSecretName): SlackSecret
  /** What Slack said of the token that is in use. */
  noteTeam(token: string, team: SlackTeam): void
  team(): SlackTeam | null
}

interface StoredTeam extends SlackTeam {
  /** Of which token, by its last characters. */
  of: string
}

const VARIABLES = { bot_token: BOT_TOKEN_VARIABLE, signing_secret: SIGNING_SECRET_VARIABLE }
const TEAM = 'slack_team'
const keyOf = (which: SlackSecretName) => `slack_${which}`
const placeOf = (which: SlackSecretName) => `settings/slack_${which}/value`
const PLAIN = /^[\x21-\x7e]+$/
const TAIL = 4

export function openSlackSettings(parts: {
  store: StoreHandle
  secrets: Secrets
  clock: Clock
  env: SlackEnvironment
}): SlackSettings {
  const { secrets, env } = parts
  const settings = openSettings(parts.store, parts.clock)
  const given = { bot_token: env.botToken, signing_secret: env.signingSecret }
  const sealedOf = (which: SlackSecretName) => settings.get<string>(keyOf(which))

  /** One that does not open here, such as in a file restored without its key, is as none. */
  function stored(which: SlackSecretName): string | null {
    const sealed = sealedOf(which)
    if (sealed === undefined) return null
    try {
      return secrets.open(sealed, placeOf(which))
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      return null
    }
  }

  const value = (which: SlackSecretName) => given[which] ?? stored(which)

  function teamNow(): SlackTeam | null {
    const known = settings.get<StoredTeam>(TEAM)
    return known && known.of === value('bot_token')?.slice(-TAIL)
      ? { team: known.team, url: known.url }
      : null
  }

  function describe(which: SlackSecretName): SlackSecret {
    const isStored = sealedOf(which) !== undefined
    const isEnv = given[which] !== null
    const isConfigured = value(which) !== null
    return {
      configured: isConfigured,
      source: isEnv ? `env:${VARIABLES[which]}` : isConfigured ? 'console' : '',
      stored: isStored,
      env_overrides: isEnv && isStored,
      ...(which === 'bot_token' ? { team: teamNow()?.team ?? null } : {}),
      ...(isStored && !isEnv && !isConfigured
        ? { problem: 'what is stored cannot be read here; enter it again' }
        : {}),
    }
  }

  return {
    access: () => ({ token: value('bot_token'), apiUrl: env.apiUrl }),
    signingSecret: () => value('signing_secret'),
    describe,
    store: (which, text) => {
      settings.put(keyOf(which), secrets.seal(checked(which, text), placeOf(which)))
      return describe(which)
    },
    forget: (which) => {
      settings.put(keyOf(which), undefined)
      return describe(which)
    },
    noteTeam: (token, team) => {
      if (value('bot_token') === token)
        settings.put(TEAM, { ...team, of: token.slice(-TAIL) } satisfies StoredTeam)
    },
    team: teamNow,
  }
}

/** @throws SvcError invalid, without the value */
function checked(which: SlackSecretName, given: string): string {
  const text = given.trim()
  const field = which === 'bot_token' ? 'token' : 'secret'
  if (!PLAIN.test(text)) fail('invalid', `${field} must be without blanks`, { field })
  if (which === 'bot_token' && !/^xox[a-z.]*-./.test(text))
    fail('invalid', 'token must be a bot token: it begins with xoxb-', { field })
  if (which === 'signing_secret' && text.startsWith('xox'))
    fail('invalid', 'secret must be the signing secret; this is a token', { field })
  return text
}
