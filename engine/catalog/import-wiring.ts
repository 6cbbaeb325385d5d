/** The wiring section of a catalog file: it wins over what the agents' own entries say. */
import { fail } from '../errors.ts'
import { parseDuration } from '../timeline/duration.ts'
import { projectOf, putProject } from '../wiring/project-doc.ts'
import { HANDOFF_COOLDOWN, withHandoff, withWake } from '../wiring/wires.ts'
import { type ImportRun, projectNamed } from './import-run.ts'

export function stageWiringRows({ edit, catalog, at }: ImportRun): void {
  catalog.wiring?.forEach((row, i) => {
    at(['wiring', i], () => {
      const id = projectNamed(edit, row.project)
      const doc = projectOf(edit, id)
      if (!edit.has('agent', row.agent)) fail('invalid', `no agent is named ${row.agent}`, { field: 'agent' })
      if ('wake' in row) {
        if (!edit.has('trigger', row.wake))
          fail('invalid', `no trigger is named ${row.wake}`, { field: 'wake' })
        putProject(edit, id, withWake(doc, row.wake, row.agent, row.enabled ?? true))
        return
      }
      if (!edit.has('agent', row.to)) fail('invalid', `no agent is named ${row.to}`, { field: 'to' })
      if (row.agent === row.to) fail('invalid', `${row.agent} cannot hand over to itself`, { field: 'to' })
      const cooldown = row.cooldown ?? HANDOFF_COOLDOWN
      parseDuration(cooldown, 'cooldown')
      putProject(edit, id, withHandoff(doc, row.agent, row.verdict.toLowerCase(), row.to, cooldown))
    })
  })
}
