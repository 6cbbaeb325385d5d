/** The rules of a declared source, whoever sends it (SPEC.md, Sources and labels). */
import { check } from '../../schemas/index.ts'
import type { SourceSpec, SourceWrite } from '../../schemas/types.ts'
import type { Doc } from '../changes/declared.ts'
import { validateConfig } from '../connectors/config.ts'
import { fail } from '../errors.ts'
import { keepSecrets, type OpenConfig, refuseMask } from './config-secrets.ts'
import { checkPoll, defaultPoll } from './poll-interval.ts'

/** The body of a source that does not exist yet. @returns its config, normalised. @throws SvcError invalid */
export function checkNew(body: SourceWrite): Record<string, unknown> {
  const fault = check('request-source-write.json', body)
  if (fault) fail('invalid', fault)
  refuseMask(body.connector, body.config ?? {})
  return checkWrite(body)
}

/** A body whose kept secrets are filled in. @returns its config, normalised. @throws SvcError invalid */
export function checkWrite(body: SourceWrite): Record<string, unknown> {
  const fault = check('request-source-write.json', body)
  if (fault) fail('invalid', fault)
  checkPoll(body.connector, body.poll)
  return validateConfig(body.connector, body.config ?? {})
}

/**
 * A source as a document in canonical form.
 * @param stored what it is now: its connector stays, and secrets that are omitted are kept.
 * @throws SvcError invalid, naming the field and the rule.
 */
export function normaliseSource(
  given: SourceSpec,
  stored: (OpenConfig & { connector: string }) | undefined,
): Doc {
  const { connector, poll, paused } = given
  if (stored && stored.connector !== connector)
    fail('invalid', `connector must stay ${stored.connector}: make another source for another connector`, {
      field: 'connector',
    })
  const spec = {
    ...given,
    config: stored ? keepSecrets(connector, stored, given.config ?? {}) : (given.config ?? {}),
  }
  const fault = check('source-spec.json', spec)
  if (fault) fail('invalid', fault)
  if (!stored) refuseMask(connector, spec.config)
  checkPoll(connector, poll)
  const config = validateConfig(connector, spec.config)
  return {
    connector,
    ...(poll && poll !== defaultPoll(connector) ? { poll } : {}),
    ...(Object.keys(config).length ? { config } : {}),
    ...(paused ? { paused: true } : {}),
  }
}
