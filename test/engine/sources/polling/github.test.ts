/** A repository through the whole way in, before a server that speaks GitHub's API. */
import { expect, it } from 'vitest'
import { chain, githubServer, pull, REPO } from '../connectors/github/github-server.ts'
import { ME, setup } from './setup.ts'

const config = (url: string) => ({
  ...{ repo: REPO, api_url: url, token: 'ghp_secret', limit: 2 },
  labels: [{ name: 'key', field: 'key', primary: true }],
})

it('stores each commit and each change of a pull request once, poll after poll', async () => {
  const upstream = await githubServer()
  const { engine, time, until, asleep, texts, health } = setup()
  const source = { name: 'code', connector: 'github', poll: '30s', config: config(upstream.url) }
  await engine.createSource(source, ME, false)
  await until(1)
  const wait = await asleep()
  expect(await texts('code')).toEqual([
    expect.stringMatching(/^[0-9a-f]{7} Codertocat: c2$/),
    expect.stringContaining('c3'),
  ])
  upstream.branches.main = chain(4, 1)
  upstream.pulls = [pull(9, new Date(time.now()).toISOString())]
  time.advance(wait)
  await until(2)
  expect(await texts('code')).toHaveLength(4)
  const events = await engine.sourceEvents('code', 4)
  expect(events.find((event) => event.event_type === 'pull_request')).toMatchObject({
    labels: { key: `${REPO}#9`, repo: REPO, action: 'opened', number: '9' },
  })
  await asleep()
  time.advance(wait)
  await until(3)
  expect(await texts('code')).toHaveLength(4)
  // The clock is months behind the commits.
  const notice = expect.stringMatching(/^The time of 3 events was too far off/)
  expect(await health('code')).toMatchObject({ status: 'ok', consecutive_errors: 0, notice })
})

it('waits until its requests are counted anew', async () => {
  const upstream = await githubServer()
  const { engine, time, until, health } = setup()
  const reset = Math.ceil(time.now() / 1_000) + 1_800
  const used = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) }
  upstream.says = () => ({ status: 403, headers: used, body: { message: 'API rate limit exceeded' } })
  await engine.createSource({ name: 'code', connector: 'github', config: config(upstream.url) }, ME, false)
  await until(1)
  const { status, last_error: error, next_poll_at: next } = await health('code')
  expect(status).toBe('error')
  expect(error).toContain('the requests GitHub allows are used up (403)')
  expect(Date.parse(next!)).toBe(reset * 1_000)
})
