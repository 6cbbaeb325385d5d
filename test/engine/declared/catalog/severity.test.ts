/** 19, step 2: severity of triggers, and verdicts that close, in the catalog. */
import { expect, it } from 'vitest'
import { BY, openWorld } from '../../triggers/trigger-world.ts'

const CATALOG = `sources:
  - { name: gateway, connector: webhook }
triggers:
  - name: errors
    sources: [gateway]
    condition: { event: any }
    severity: critical
    severity_field: level
  - name: usual
    sources: [gateway]
    condition: { event: any }
    severity: warning
agents:
  - name: first-look
    prompt: Look.
    trigger: errors
    verdicts:
      - { verdict: false_alarm, closes: true }
`

it('are imported and exported; again it changes nothing', async () => {
  const { engine } = await openWorld()
  await engine.importCatalog({ yaml: CATALOG }, BY)
  expect(await engine.getTrigger('errors')).toMatchObject({ severity: 'critical', severity_field: 'level' })
  expect(await engine.getAgent('first-look')).toMatchObject({
    verdicts: [{ verdict: 'false_alarm', closes: true }],
  })
  const { yaml } = (await engine.exportCatalog()) as unknown as { yaml: string }
  const text = typeof yaml === 'string' ? yaml : JSON.stringify(await engine.exportCatalog())
  expect(text).toContain('severity: critical')
  expect(text).toContain('severity_field: level')
  expect(text).toContain('closes: true')
  const again = await engine.importCatalog({ yaml: CATALOG, dry_run: true }, BY)
  expect(again.plan).toMatchObject({ creates: 0, updates: 0 })
})
