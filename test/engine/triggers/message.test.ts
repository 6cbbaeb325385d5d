/** The summary that a schedule carries. */
import { describe, expect, it } from 'vitest'
import { MINUTE, openWorld } from './trigger-world.ts'

/** What the second slot says of events of the ten minutes before it. */
async function summaryOf(services: readonly string[], condition: object): Promise<string> {
  const { engine, post, trigger, firings, pass } = await openWorld()
  await trigger({ condition: { every: '10m', ...condition } })
  pass(0)
  pass(5 * MINUTE)
  if (services.length) await post(services.map((service) => ({ service, type: 'error' })))
  pass(5 * MINUTE)
  const all = await firings()
  const { payload } = await engine.getFiring(all[1]!.dispatch_id)
  return payload ?? ''
}

describe('the summary of a schedule', () => {
  it('has each group where it is rich, however small', async () => {
    const text = await summaryOf(['pay', 'cart'], { summary: 'rich', summary_by: ['service'] })
    expect(text).toContain('by service | now | before | usual | off by')
    for (const service of ['pay', 'cart']) expect(text).toMatch(new RegExp(`^  ${service} \\| 1 \\| 0 `, 'm'))
    expect(text).toMatch(/^ {2}total \| 2 \| 0 /m)
    expect(text).not.toContain('no event')
  })

  it('says how many groups min_count leaves out of what the total counts', async () => {
    const ask = { summary: { min_count: 2 }, summary_by: ['service'] }
    const some = await summaryOf(['pay', 'pay', 'cart', 'shop'], ask)
    expect(some).toMatch(/ {2}pay \| 2 \| 0 \| new\n {2}… and 2 more below min_count\n {2}total \| 4 \| 0/)
    const all = await summaryOf(['pay', 'cart'], ask)
    expect(all).toMatch(/by service \| .*\n {2}… and 2 more below min_count\n {2}total \| 2 \| 0/)
  })

  it('tells a window without events from one whose events lack the label', async () => {
    const ask = { summary: 'rich', summary_by: ['region'] }
    expect(await summaryOf([], ask)).toContain('by region: no events in this window')
    expect(await summaryOf(['pay'], ask)).toContain('by region: no event of this window has this label')
  })
})
