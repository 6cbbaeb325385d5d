/** Agents at work, seen in the console: their runs, what they cost, and the models they run on. */
import { expect, type Page } from '@playwright/test'
import { practise, prepareChain, runsOf, test, trip, wakeChain } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { type RunningDaemon, share } from './daemon.ts'
import { goTo, press, pressInDialog } from './go.ts'

const rows = (page: Page, table: string) => page.getByRole('table', { name: table }).getByRole('row')
const steps = (page: Page) => page.getByRole('list', { name: 'Steps', exact: true }).locator('> li')

/** Looks through pages of a daemon; `faults` has what is wrong with them. */
function looker(page: Page, url: string) {
  const faults: string[] = []
  const check = async (what: string): Promise<void> => {
    faults.push(...(await accessibilityFaults(page, what)))
  }
  return {
    faults,
    check,
    visit: async (path: string, ready: () => Promise<unknown>): Promise<void> => {
      await goTo(page, url + path)
      await ready()
      await check(path)
    },
    text: (words: string | RegExp) => page.getByText(words).first().waitFor(),
  }
}

test.describe('of a chain that was woken once', () => {
  share({ prepare: wakeChain })

  test('a firing wakes two agents in a chain, and the page of a run tells its story with its claims', async ({
    page,
    daemon,
  }) => {
    const [triage, digger] = await runsOf(daemon)
    await goTo(page, `${daemon.url}/runs`)
    await expect(rows(page, 'Runs')).toHaveCount(3)
    await expect(rows(page, 'Runs').filter({ hasText: 'triage' })).toContainText('<$0.01')
    await expect(rows(page, 'Runs').filter({ hasText: 'digger' })).toContainText('1 of 2 claims holds')
    await page.getByRole('combobox', { name: 'Agent' }).click()
    await page.getByRole('option', { name: 'triage' }).click()
    await expect(rows(page, 'Runs')).toHaveCount(2)
    await expect(page).toHaveURL(/agent=triage/)
    await page.getByRole('textbox', { name: 'Entity' }).fill('cart')
    await expect(page.getByText('No runs match')).toBeVisible()
    await page.getByRole('button', { name: 'Clear filters' }).click()

    await page.getByRole('link', { name: 'Run of triage for pay, succeeded' }).click()
    await expect(page.getByRole('heading', { name: 'triage: pay' })).toBeVisible()
    const found = page.getByRole('region', { name: 'What it found' })
    await expect(found.getByRole('heading', { name: 'pay fails on every order' })).toBeVisible()
    await expect(found.getByText('500', { exact: true })).toHaveJSProperty('tagName', 'STRONG')
    await expect(found.getByText('Look at the last deploy of pay.')).toBeVisible()
    await expect(found.getByText('Claims: 1 of 1 claim holds')).toBeVisible()
    await expect(steps(page)).toHaveCount(5)
    await expect(steps(page).nth(1)).toContainText('I look at what pay did before.')
    await expect(steps(page).nth(1)).toContainText('<$0.01')
    const told = steps(page).first()
    await told.getByText('First message').click()
    await expect(told.getByRole('region', { name: 'First message' })).toContainText(
      'The trigger gateway-errors fired for service=pay',
    )
    await expect(told.getByRole('button', { name: 'Copy: First message' })).toBeVisible()
    await steps(page).nth(2).getByText('Result').click()
    await expect(steps(page).nth(2).getByRole('region', { name: 'Result' })).toContainText('pay answered')

    await found.getByRole('link', { name: 'evt_2', exact: true }).click()
    await expect(page.getByRole('heading', { name: 'Explore' })).toBeVisible()
    await expect(page.getByRole('region', { name: 'Payload of evt_2' })).toContainText('"status": 500')
    await expect(page).toHaveURL(/l=service%3Dpay/)

    await goTo(page, `${daemon.url}/runs/${triage!.id}`)
    await page.getByRole('link', { name: 'Waterfall' }).click()
    await expect(page).toHaveURL(`${daemon.url}/traces/${triage!.id}`)
    await expect(
      page.getByText(/run of the agent triage, succeeded · .* · 4 calls of models and tools/),
    ).toBeVisible()
    const spans = page.getByRole('treegrid', { name: 'Spans' }).getByRole('row')
    await expect(spans.nth(2)).toContainText(/chat model-triage.*round 1.*tokens/)
    await expect(spans.nth(3)).toContainText(/read.*round 1/)
    await spans.nth(1).click()
    const links = page.getByRole('list', { name: 'Links to other traces' })
    await expect(links).toContainText('linked from digger')
    await spans.nth(4).click()
    await expect(page.getByRole('link', { name: /^Step \d of the run, round 1$/ })).toBeVisible()
    expect(await accessibilityFaults(page, 'a run as a waterfall')).toEqual([])

    // It is in the list of traces, for people and for agents from outside.
    await goTo(page, `${daemon.url}/traces?service=svc&name=triage`)
    await expect(rows(page, 'Traces')).toHaveCount(2)
    await expect(rows(page, 'Traces').nth(1)).toContainText('Run of svc')
    await page.getByRole('link', { name: `triage, run ${triage!.id}` }).click()
    await expect(page).toHaveURL(`${daemon.url}/traces/${triage!.id.slice(4)}`)
    const asTool = await page.request.post(`${daemon.url}/telemetry/mcp`, {
      headers: { accept: 'application/json, text/event-stream' },
      data: {
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'traces', arguments: { service: 'svc', name: 'triage' } },
      },
    })
    expect(await asTool.text()).toContain('triage (run of svc, succeeded) | svc')

    await goTo(page, `${daemon.url}/runs/${triage!.id}`)
    const chain = page.getByRole('list', { name: 'Runs of the chain' })
    await expect(chain.getByRole('listitem')).toHaveText([/^triage \(this run\)/, /^digger/])
    await expect(page.getByRole('list', { name: 'Handoffs' })).toContainText('On investigate to digger')
    await chain.getByRole('link', { name: 'digger' }).click()
    await expect(page).toHaveURL(new RegExp(`/runs/${digger!.id}$`))
    await expect(page.getByText('Does not hold: evt_999 is no event').first()).toBeVisible()
    await expect(page.getByText('— not priced')).toBeVisible()
    await expect(steps(page).filter({ hasText: 'sent back' })).toHaveCount(1)

    await page.getByRole('link', { name: 'the firing' }).click()
    const toldOf = page.getByRole('region', { name: 'Notified' })
    await toldOf.getByRole('link', { name: 'Run of triage for pay' }).click()
    await expect(page.getByRole('heading', { name: 'triage: pay' })).toBeVisible()
    await page.getByRole('link', { name: 'Default' }).click()
    await expect(page.getByRole('region', { name: 'Agents', exact: true })).toContainText('triage')
    await expect(page.getByRole('region', { name: 'What the agents found' })).toContainText(
      'The deploy broke pay',
    )
    await expect(rows(page, 'Runs')).toHaveCount(3)
    await page.getByRole('tab', { name: 'Findings' }).click()
    const result = page.getByRole('article').filter({ hasText: 'The deploy broke pay' })
    await expect(result).toContainText('1 of 2 claims holds')
    await result.getByRole('link', { name: 'Run of triage, then digger for pay' }).click()
    await expect(page.getByRole('heading', { name: 'digger: pay' })).toBeVisible()
  })

  test('an agent says what it costs and what it would be told, and its form keeps models and handoffs', async ({
    page,
    daemon,
  }) => {
    const yaml = await (await daemon.call('GET', '/api/catalog/export')).text()
    await goTo(page, `${daemon.url}/agents`)
    const row = rows(page, 'Agents').filter({ hasText: 'triage' })
    await expect(row).toContainText('<$0.01 of $5.00')
    await expect(row).toContainText('1 of 1 succeeded')
    await expect(rows(page, 'Agents').filter({ hasText: 'digger' })).toContainText('1 run not priced')
    await row.getByRole('link', { name: 'triage', exact: true }).click()
    await expect(page.getByText('on investigate to digger')).toBeVisible()
    await expect(
      page.getByText(/At the pace of the last seven days it costs \$0\.1[67] a month/),
    ).toBeVisible()
    await expect(rows(page, 'Runs')).toHaveCount(2)

    await page.getByRole('tab', { name: 'Preview' }).click()
    const told = page.getByRole('region', { name: 'Prompt', exact: true })
    await expect(told.getByRole('region', { name: 'Instructions' })).toContainText('worth looking into')
    await expect(told.getByRole('region', { name: 'First message' })).toContainText('fired for service=pay')
    await expect(told).toContainText(/About [\d,]+ tokens/)

    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByRole('button', { name: /^More options/ }).click()
    await page.getByRole('textbox', { name: 'Budget of one run' }).fill('0.5')
    await page.getByRole('textbox', { name: 'Runs at the same time' }).fill('2')
    await page.getByRole('checkbox', { name: 'Keep observations for later runs' }).check()
    await page.getByRole('combobox', { name: 'Agent of handoff 1' }).click()
    await expect(page.getByRole('option')).toHaveText(['digger'])
    await press(page, 'Escape')
    await page.getByRole('textbox', { name: 'Wait of handoff 1' }).fill('5m')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.getByText('triage is saved')).toBeVisible()
    expect(await daemon.ask('GET', '/api/agents/builtin/triage')).toMatchObject({
      run_budget_usd: 0.5,
      concurrency: 2,
      remembers: true,
      budget_usd: 5,
      model: 'model-triage',
      trigger: 'gateway-errors',
      handoffs: [{ verdict: 'investigate', agent: 'digger', cooldown: '5m' }],
    })
    // As it was, for those that share it.
    expect((await daemon.call('POST', '/api/catalog/import', { yaml })).ok).toBe(true)
  })

  test('a model provider is added, tested and deleted; its key is not shown again; usage is added up', async ({
    page,
    daemon,
    models,
  }) => {
    models.listed({ models: ['model-triage', 'model-digger'] })
    await goTo(page, `${daemon.url}/settings?tab=providers`)
    await expect(page.getByText('environment: PROVIDERA_API_KEY')).toBeVisible()
    await page.getByRole('button', { name: 'Add provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: 'Chat-completions endpoint' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Local')
    await dialog.getByRole('textbox', { name: 'Address' }).fill(`${models.url}/v1`)
    await dialog.getByLabel('Key', { exact: true }).fill('key-of-a-person')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('Local is saved; it lists 2 models', { exact: true })).toBeVisible()
    const local = page.getByRole('region', { name: 'local' })
    await expect(local).toContainText('stored here')
    expect(await page.content()).not.toContain('key-of-a-person')

    models.reply('model-ready', () => ({ text: 'ready' }))
    models.listed({ models: ['model-triage', 'model-digger', 'model-ready'] })
    await local.getByRole('combobox', { name: 'Model to test' }).fill('model-ready')
    await local.getByRole('button', { name: 'Test local' }).click()
    await expect(local.getByText('The provider answers')).toBeVisible()
    await local.getByRole('combobox', { name: 'Model to test' }).fill('model-of-nobody')
    await local.getByRole('button', { name: 'Test local' }).click()
    await expect(local.getByText('Check the model')).toBeVisible()
    await expect(local.getByText(/The model model-of-nobody does not exist/)).toBeVisible()
    await local.getByRole('button', { name: 'List the models of local' }).click()
    await expect(page.getByText('local lists 3 models')).toBeVisible()
    await local.getByRole('button', { name: 'Make local the default' }).click()
    await expect(page.getByText('local is the default')).toBeVisible()
    await local.getByRole('button', { name: 'Delete local' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await expect(local).toHaveCount(0)

    await page.getByRole('tab', { name: 'Prices' }).click()
    await page.getByRole('button', { name: 'Add a price' }).click()
    await page.getByRole('textbox', { name: 'Model of price 1' }).fill('model-digger')
    await page.getByRole('textbox', { name: 'Input of price 1' }).fill('2')
    await page.getByRole('textbox', { name: 'Output of price 1' }).fill('8')
    await page.getByRole('button', { name: 'Save prices' }).click()
    await expect(page.getByText('Prices saved')).toBeVisible()
    await page.getByRole('tab', { name: 'Agents' }).click()
    await page.getByRole('textbox', { name: 'Dollars of all agents in a day' }).fill('3.5')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await expect(page.getByText('Limits saved')).toBeVisible()
    expect(await daemon.ask('GET', '/api/settings/agents')).toMatchObject({ daily_budget_usd: 3.5 })
    expect(await daemon.ask('GET', '/api/settings/prices')).toMatchObject({
      own: [{ prefix: 'model-digger', input: 2, output: 8 }],
    })

    await goTo(page, `${daemon.url}/usage`)
    await expect(page.getByText(/^\d+ of \d+ calls have no known price/)).toBeVisible()
    await expect(rows(page, 'By surface').filter({ hasText: 'agents' })).toContainText(
      '<$0.01, and 4 calls without a price',
    )
    await expect(page.getByRole('img', { name: 'Dollars a day: 1 of 30 days had calls' })).toBeVisible()
    // As it was, for those that share it.
    for (const [path, body] of [
      ['/api/settings/agents', { daily_budget_usd: '' }],
      ['/api/settings/prices', { prices: [] }],
    ] as const)
      expect((await daemon.call('PUT', path, body)).ok).toBe(true)
  })

  test('runs, agents, settings and usage have no accessibility fault, light or dark', async ({
    page,
    daemon,
  }) => {
    const { faults, check, visit, text } = looker(page, daemon.url)
    const [triage, digger] = await runsOf(daemon)
    const again = await practise(daemon, triage!)
    await visit('/runs?practice=1', () => page.getByRole('table', { name: 'Runs' }).waitFor())
    await goTo(page, `${daemon.url}/runs/${digger!.id}`)
    await page.getByText('First message').click()
    await page.getByText('Result').first().click()
    await check('a run')
    await visit(`/runs/${triage!.id}/compare?with=${again.id}`, () =>
      page.getByRole('table', { name: 'Both runs' }).waitFor(),
    )
    await visit('/agents', () => page.getByRole('table', { name: 'Agents' }).waitFor())
    await visit('/agents/triage', () => text(/At the pace of the last seven days/))
    await visit('/agents/triage?tab=edit', () =>
      expect(page.getByRole('combobox', { name: 'Woken by' })).toHaveValue('gateway-errors'),
    )
    await visit('/agents/triage?tab=preview', () => text(/^About/))
    await goTo(page, `${daemon.url}/settings?tab=providers`)
    await text('environment: PROVIDERA_API_KEY')
    expect(await page.getByRole('main').getByRole('tab').allTextContents()).toEqual([
      'Access and API keys',
      'Model providers',
      'GitHub',
      'Slack',
      'Agents',
      'Observability',
      'Prices',
    ])
    await page.getByRole('button', { name: 'Test Provider A' }).click()
    await page.getByRole('alert').waitFor()
    await check('a test of a provider')
    await visit('/settings?tab=observability', () => text('Off: nothing is exported.'))
    await visit('/settings?tab=prices', () => text('Prices that come with svc'))
    await visit('/settings?tab=agents', () => text('Dollars of all agents in a day'))
    await goTo(page, `${daemon.url}/usage`)
    await page.getByText('Each day').click()
    await page.getByRole('table', { name: 'Each day' }).waitFor()
    await check('/usage')
    expect(faults).toEqual([])
  })

  test('a run is repeated with another prompt, and both are looked at side by side', async ({
    page,
    daemon,
  }) => {
    const [triage] = await runsOf(daemon)
    await goTo(page, `${daemon.url}/runs/${triage!.id}`)
    await page.getByRole('button', { name: 'Rerun…' }).click()
    const dialog = page.getByRole('dialog')
    await pressInDialog(dialog.getByRole('switch', { name: 'Practice' }), 'Space')
    await pressInDialog(dialog.getByRole('switch', { name: 'Override the prompt' }), 'Space')
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('Say whether it is worth a person’s time.')
    await dialog.getByRole('button', { name: 'Rerun', exact: true }).click()
    await dialog.getByRole('link', { name: 'Compare both' }).click()
    await expect(page.getByRole('heading', { name: 'Two runs' })).toBeVisible()
    const both = page.getByRole('table', { name: 'Both runs' })
    await expect(both.getByRole('row', { name: /^Status/ })).toContainText('succeeded, practice')
    await expect(both.getByRole('row', { name: /^Cost/ })).toContainText('<$0.01')
    const prompts = page.getByRole('region', { name: 'Timelines received' })
    await expect(prompts.locator('del').first()).toHaveText('looking')
    await expect(prompts.locator('ins').first()).toHaveText('a')
    await expect(page.getByText('pay fails, said another way')).toBeVisible()
    await expect(page.getByText('pay fails on every order')).toBeVisible()

    await goTo(page, `${daemon.url}/runs`)
    await expect(rows(page, 'Runs')).toHaveCount(3)
    await page.getByRole('switch', { name: 'Practice runs too' }).press('Space')
    await expect(rows(page, 'Runs').filter({ hasText: 'practice' })).not.toHaveCount(0)
    await expect(page).toHaveURL(/practice=1/)
  })

  test('a run is kept as an example, and its agent is tested by it', async ({ page, daemon }) => {
    const [triage] = await runsOf(daemon)
    await goTo(page, `${daemon.url}/runs/${triage!.id}`)
    await page.getByRole('button', { name: 'Keep as example…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('pay fails')
    await dialog.getByRole('button', { name: 'Keep', exact: true }).click()
    await dialog.getByRole('link', { name: 'Go to the tests of triage' }).click()
    await expect(rows(page, 'Examples').filter({ hasText: 'pay fails' })).toContainText('service=pay')
    await page.getByRole('button', { name: 'Run all' }).click()
    const tests = page.getByRole('region', { name: 'Tests' })
    await expect(tests.getByText('1 of 1 passed', { exact: false })).toBeVisible()
    await expect(tests.getByRole('link', { name: 'pay fails' })).toBeVisible()
    expect(await accessibilityFaults(page, 'tests of an agent')).toEqual([])
    await page.getByRole('button', { name: 'Remove pay fails' }).click()
    await expect(page.getByText('No examples yet')).toBeVisible()
  })
})

test.describe('of a chain that is woken by each', () => {
  share({ prepare: prepareChain })

  const gateway = async (daemon: RunningDaemon): Promise<string> =>
    `/ingest/${(await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/gateway')).ingest_key}`

  test('a run is followed while it is at work, and ended by hand', async ({ page, daemon, models }) => {
    let answer = () => {}
    const waits = new Promise<void>((resolve) => {
      answer = resolve
    })
    models.reply('model-triage', () => ({ text: 'late', delayUntil: waits }))
    await goTo(page, `${daemon.url}/runs?entity=cart`)
    await expect(page.getByText('No runs match')).toBeVisible()
    await trip(daemon, await gateway(daemon), 'cart')
    try {
      await page.getByRole('link', { name: 'Run of triage for cart, running' }).click()
      await expect(page.getByText('Running. This page follows it.')).toBeVisible()
      await expect(steps(page).last()).toContainText('Round 1: the model is asked')
      await expect(steps(page).last()).toContainText('so far')
      await page.getByRole('button', { name: 'Cancel the run' }).click()
      await expect(page.getByText('Run cancelled')).toBeVisible()
      await expect(page.getByText('This page follows it')).toHaveCount(0)
      await expect(page.getByText('cancelled', { exact: true }).first()).toBeVisible()
      await expect(page.getByText('cancelled by somebody, without signing in')).toBeVisible()
    } finally {
      answer()
    }
  })

  test('a run that failed says why, and the run of an outside agent is one to look at', async ({
    page,
    daemon,
    models,
  }) => {
    models.reply('model-triage', () => ({ status: 401, error: 'invalid key' }))
    await trip(daemon, await gateway(daemon))
    const failed = async () =>
      (await daemon.ask<{ runs: { id: string; status: string }[] }>('GET', '/api/runs?entity=pay')).runs[0]
    await expect.poll(async () => (await failed())?.status).toBe('failed')
    await goTo(page, `${daemon.url}/runs/${(await failed())!.id}`)
    await expect(page.getByRole('alert')).toContainText('It failed')
    await expect(page.getByRole('alert')).toContainText('invalid key')
    await expect(steps(page).last()).toContainText('Round 1: the model did not answer')

    const [project] = (await daemon.ask<{ projects: { id: string }[] }>('GET', '/api/projects')).projects
    await daemon.call('POST', `/api/projects/${project!.id}/findings`, {
      entity: 'pay',
      finding: '# Payments time out',
      agent: 'scout',
    })
    await goTo(page, `${daemon.url}/runs`)
    await page.getByRole('link', { name: 'Run of scout for pay, succeeded' }).click()
    await expect(page.getByText('an outside agent')).toBeVisible()
    await expect(page.getByText('Steps expired.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Rerun…' })).toHaveCount(0)
  })
})
