/** Tokens of GitHub Apps, against a stand-in whose clock is the test's; @octokit/app signs in there as a witness. */
import { App } from '@octokit/app'
import { Octokit } from '@octokit/core'
import { describe, expect, it } from 'vitest'
import type { AppCredential } from '../../../../engine/model/credentials.ts'
import { createGithubTokens, privateKeyOf } from '../../../../engine/net/github-app.ts'
import {
  APP_ID,
  type GithubAppServer,
  githubAppServer,
  makeKey,
  place,
  REPO,
} from '../../declared/credentials/github-app-server.ts'
import { client } from '../egress/setup.ts'

const MINUTE = 60_000

async function world() {
  const { time, ...egress } = client()
  const github = await githubAppServer(() => time.now())
  const tokens = createGithubTokens({ egress, clock: time })
  const app = (installation: number | null = null, privateKey = github.privateKey): AppCredential => ({
    apiUrl: github.url,
    app: { name: 'main', id: APP_ID, installation, privateKey },
  })
  const made = () => github.asked.filter((one) => one.endsWith('/access_tokens')).length
  return { github, tokens, app, time, made }
}

const octokitAt = ({ url, privateKey }: GithubAppServer) =>
  new App({ appId: APP_ID, privateKey, Octokit: Octokit.defaults({ baseUrl: url }) })

describe('the stand-in', () => {
  it('lets @octokit/app in, which finds its installations and what they have', async () => {
    const github = await githubAppServer()
    github.installations.push(place(2, 'globex', ['globex/site']))
    const found: string[] = []
    for await (const { repository } of octokitAt(github).eachRepository.iterator())
      found.push(repository.full_name)
    expect(found).toEqual(['acme/shop', 'acme/docs', 'globex/site'])
    const stranger = octokitAt({ ...github, privateKey: makeKey().privateKey })
    await expect(stranger.octokit.request('GET /app')).rejects.toMatchObject({ status: 401 })
  })
})

describe('a token of an installation', () => {
  it('is made once, and anew before it ends, so that none that is used has ended', async () => {
    const { tokens, app, time, github, made } = await world()
    const use = () => tokens.use(app(1), null)
    const [first, same] = await Promise.all([use(), use()])
    expect(same).toEqual(first)
    expect(made()).toBe(1)
    time.advance(54 * MINUTE)
    expect((await use()).token).toBe(first!.token)
    time.advance(2 * MINUTE)
    const second = await use()
    expect(second.token).not.toBe(first!.token)
    expect(github.tokens.get(second.token)!.endsAt - time.now()).toBe(60 * MINUTE)
  })

  it('is of the installation that has the repository, where the credential names none', async () => {
    const { tokens, app, github } = await world()
    github.installations.push(place(2, 'globex', ['globex/site']))
    const of = async (repo: string) => github.tokens.get((await tokens.use(app(), repo)).token)!.installation
    expect([await of(REPO), await of('globex/site'), await of(REPO)]).toEqual([1, 2, 1])
    expect(github.asked.filter((one) => one.endsWith('/installation'))).toHaveLength(2)
    await expect(tokens.use(app(), 'other/thing')).rejects.toThrow(
      'the app 4711 is not installed for other/thing (404); install it on GitHub',
    )
  })

  it('needs no repository where there is one installation alone, of which there may be many pages', async () => {
    const { tokens, app, github } = await world()
    expect(await tokens.use(app(), null)).toMatchObject({ token: expect.stringMatching(/of1x/) })
    github.installations = Array.from({ length: 150 }, (_, n) => ({
      ...place(n + 1, `org-${n}`, []),
      suspended_at: n === 149 ? null : '2026-01-01T00:00:00Z',
    }))
    expect(await tokens.use(app(), null)).toMatchObject({ token: expect.stringMatching(/of150x/) })
    github.installations = [place(7, 'acme', []), place(8, 'globex', [])]
    await expect(tokens.use(app(), null)).rejects.toThrow(
      'the app of the credential main is installed in 2 places; give the credential an installation_id: 7 (acme), 8 (globex)',
    )
    github.installations = []
    await expect(tokens.use(app(), null)).rejects.toThrow('installed nowhere')
  })

  it('that GitHub refused is not kept, and neither is one of a key before', async () => {
    const { tokens, app, github, made } = await world()
    const { token } = await tokens.use(app(1), null)
    tokens.drop(token)
    expect((await tokens.use(app(1), null)).token).not.toBe(token)
    const next = makeKey()
    await expect(tokens.use(app(1, next.privateKey), null)).rejects.toThrow(
      'GitHub does not take the key of the app 4711 (401): A JSON web token could not be decoded; check app_id and private_key',
    )
    github.publicKeys.push(next.publicKey)
    await tokens.use(app(1, next.privateKey), null)
    expect(made()).toBe(4)
  })

  it('says why there is none, and whether it may come by itself', async () => {
    const { tokens, app, github } = await world()
    await expect(tokens.use(app(9), null)).rejects.toMatchObject({
      message: 'the app 4711 has no installation 9 (404); it may have been uninstalled',
      retryAfterMs: null,
    })
    github.refusals.push({ method: 'POST', path: /access_tokens/, status: 502 })
    await expect(tokens.use(app(1), null)).rejects.toMatchObject({
      message: 'GitHub answered 502 to the app 4711',
      retryAfterMs: 60_000,
    })
    github.installations[0]!.suspended_at = '2026-01-01T00:00:00Z'
    await expect(tokens.use(app(1), null)).rejects.toThrow(
      'GitHub forbids the app 4711 a token (403): This installation has been suspended',
    )
  })
})

describe('a private key', () => {
  it('is PEM of an RSA key, PKCS#1 or PKCS#8, also with its line breaks written out', () => {
    const { privateKey, publicKey } = makeKey()
    expect(privateKeyOf(`\n ${privateKey}`)).toBe(privateKey)
    expect(privateKeyOf(privateKey.replaceAll('\n', '\\n'))).toBe(privateKey)
    expect([privateKeyOf(publicKey), privateKeyOf('ghp_token'), privateKeyOf('')]).toEqual([null, null, null])
  })
})
