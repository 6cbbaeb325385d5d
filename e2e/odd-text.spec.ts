/** Names as long as they may be, and texts that are HTML, Markdown or one long word: they are shown, and move nothing. */
import { expect } from '@playwright/test'
import { ended, test } from './agents.ts'
import { goTo } from './go.ts'

const named = (letter: string) => letter.repeat(64)
const HTML = '<img src=x onerror="window.isRun=1"><script>window.isRun=1</script>'
/** Shown as it is, the rest of its line is read from its end: `<RLO>moc.elgoog` is google.com to see. */
const TURNED = '\u202emoc.elgoog'
const WORD = `${TURNED}${'x'.repeat(300)}`
const MARKDOWN = `[a](javascript:window.isRun=1) ![b](http://127.0.0.1:9/b.png) ${WORD}\n\n\`\`\`\n${WORD}\n\`\`\``

test('no name and no text makes a page wider than a phone, or runs in it', async ({
  page,
  daemon,
  models,
}) => {
  test.setTimeout(120_000)
  const faults: string[] = []
  page.on('pageerror', ({ message }) => faults.push(message))
  const project = { template: 'custom', name: 'P'.repeat(60), goal: HTML, description: WORD + HTML }
  const { id } = await daemon.ask<{ id: string }>('POST', '/api/projects', project)
  const labels = [
    { name: 'constructor', field: 'service', primary: true },
    { name: 'L'.repeat(60), field: 'other' },
  ]
  const [source, trigger, agent] = [named('s'), named('t'), named('a')]
  const config = { text_template: '{msg}', labels }
  const { ingest_key } = await daemon.ask<{ ingest_key: string }>('POST', '/api/sources', {
    ...{ name: source, connector: 'webhook', project: id, config },
  })
  const condition = { aggregate: 'count', predicate: '>= 1', window: '5m' }
  await daemon.ask('POST', '/api/triggers', {
    ...{ name: trigger, project: id, sources: [source], key_field: 'constructor', condition },
    description: `${HTML} ${'d'.repeat(80)}`,
  })
  models.reply('odd', [
    { text: MARKDOWN, calls: [{ name: 'constructor', arguments: { of: HTML } }] },
    {
      calls: [
        {
          name: 'conclude',
          arguments: {
            ...{ outcome: 'finding', verdict: 'investigate', headline: HTML, summary: MARKDOWN },
            next_step: WORD,
          },
        },
      ],
    },
  ])
  await daemon.ask('POST', '/api/agents/builtin', {
    ...{ name: agent, project: id, trigger, prompt: MARKDOWN, model: 'odd' },
  })
  await daemon.call('POST', `/api/agents/builtin/${agent}/enable`)
  await daemon.call('POST', `/ingest/${ingest_key}`, { service: HTML, other: WORD, msg: `${HTML} ${WORD}` })
  const [run] = await ended(daemon, 1)
  expect(run!.status).toBe('succeeded')

  await page.setViewportSize({ width: 390, height: 844 })
  const paths = ['/', '/incidents/1', `/runs/${run!.id}`, `/projects/${id}`, `/sources/${source}`]
  for (const path of [...paths, `/triggers/${trigger}`, `/agents/${agent}`, '/findings', '/explore']) {
    await goTo(page, daemon.url + path)
    await expect(page.getByRole('main')).toContainText(/s{20}|t{20}|a{20}|P{20}|onerror/)
    await expect
      .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: path })
      .toBe(390)
    expect(await page.evaluate('document.body.innerText'), path).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
  }
  await expect(page.getByText('\\u202emoc.elgoog').first()).toBeVisible()
  await goTo(page, `${daemon.url}/incidents/1`)
  await expect(page.getByRole('heading', { level: 1 })).toContainText('<script>')
  expect(await page.evaluate('window.isRun')).toBeUndefined()
  // An address of others in what a model wrote is not asked.
  expect(await page.locator('img[src^="http"]').count()).toBe(0)
  expect(faults).toEqual([])
})
