/** The source that findings are written to. */
import type { Caller } from '../calls.ts'
import type { Declared } from './declared.ts'
import { createSource } from './source-writes.ts'

const FINDINGS_SOURCE = 'findings'
const SERVICE: Caller = { id: 'svc', name: 'svc' }

/**
 * Makes it, unless there is one.
 * @param project id of the project it is made in; absent: Default. @returns its name; null: there was one
 */
export function makeFindingsSource(declared: Declared, project?: string): string | null {
  if (declared.kinds.source.list().some(({ doc }) => doc.connector === 'finding')) return null
  let name = FINDINGS_SOURCE
  for (let n = 2; declared.sources.has(name); n++) name = `${FINDINGS_SOURCE}_${n}`
  const write = { name, connector: 'finding', ...(project === undefined ? {} : { project }) }
  createSource(declared, write, { caller: SERVICE, origin: 'boot' }, false)
  return name
}
