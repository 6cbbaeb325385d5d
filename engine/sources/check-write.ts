/** The rules of a source's body, whoever sends it (SPEC.md, Sources and labels). */
import { check } from '../../schemas/index.ts'
import type { SourceWrite } from '../../schemas/types.ts'
import { validateConfig } from '../connectors/config.ts'
import { fail } from '../errors.ts'
import { parseDuration } from '../timeline/duration.ts'
import { refuseMask } from './config-secrets.ts'

export const DEFAULT_POLL = '5s'

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
  if (body.project) fail('invalid', `project: no project is named ${body.project}`, { field: 'project' })
  // Kept for every connector, so it must hold for every connector.
  parseDuration(body.poll ?? DEFAULT_POLL, 'poll')
  return validateConfig(body.connector, body.config ?? {})
}
