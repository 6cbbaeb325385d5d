/** New keys, with what they are bound to. */
import type { KeyCreate, KeyCreated } from '../../schemas/types.ts'
import type { Caller } from '../calls.ts'
import { fail, SvcError } from '../errors.ts'
import type { Keys } from '../keys/keys.ts'
import type { Sources } from '../sources/sources.ts'
import { refuseAgentsName } from './agent-names.ts'
import type { Declared } from './declared.ts'
import { requireProject } from './skill-writes.ts'

/** @param isLogin a person approved it for a machine. @throws SvcError invalid; not_found when the source is not there */
export function createBoundKey(
  { keys, sources, declared }: { keys: Keys; sources: Sources; declared: Declared },
  body: KeyCreate,
  caller: Caller,
  isLogin = false,
): KeyCreated {
  if (body.project) {
    if (body.source) fail('invalid', 'give source or project, not both', { field: 'project' })
    const project = projectFor(declared, body.project)
    if (body.scopes?.includes('findings') ?? true) refuseAgentsName(declared, body.name)
    return keys.create({ ...body, project }, caller, { project })
  }
  const bound = body.source === undefined ? { isLogin } : { sourceId: sources.requireByName(body.source).id }
  return keys.create(body, caller, bound)
}

/** A key cannot be made for what is not there. */
function projectFor(declared: Declared, word: string): string {
  try {
    return requireProject(declared, word)
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return fail('invalid', `project: no project has the id or name ${word}`, { field: 'project' })
  }
}
