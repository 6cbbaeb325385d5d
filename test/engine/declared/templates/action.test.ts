import { describe, expect, it } from 'vitest'
import {
  actionOf,
  checkParams,
  readTemplates,
  renderAction,
} from '../../../../engine/declared/projects/templating.ts'
import { templateFrom, WATCH } from './template-folder.ts'

const file = templateFrom(WATCH)
const params = checkParams(file, { system: 'Shop', token: 't0ken' })

describe('an action', () => {
  it('that is not there is not found, naming those there are', () => {
    expect(() => actionOf(file, 'jump')).toThrow(
      expect.objectContaining({
        code: 'not_found',
        message: 'the template watch has no action jump; there are ask, look',
      }),
    )
  })

  it('makes a request of parameters and arguments, with defaults and their own types', () => {
    expect(renderAction(file, 'ask', params, { about: 'today' })).toEqual({
      request: { method: 'POST', url: 'https://example.test/shop/today', body: { token: 't0ken', depth: 2 } },
    })
  })

  it('keeps an argument from leading to another address', () => {
    const { request } = renderAction(file, 'ask', params, { about: '../../admin?x=1#y' })
    expect(request!.url).toBe('https://example.test/shop/..%2F..%2Fadmin%3Fx%3D1%23y')
  })

  it('runs an agent by the name it has in the project', () => {
    expect(renderAction(file, 'look', params, {})).toEqual({ run: { agent: 'shop-first', entity: 'Shop' } })
  })

  it.each([
    [{}, 'about is required', 'about'],
    [{ about: '' }, 'about is required', 'about'],
    [{ about: 5 }, 'about must be text', 'about'],
    [{ about: 'x', depth: 'y' }, 'depth must be a whole number', 'depth'],
    [{ about: 'x', other: 1 }, 'other is not a known field; it has about, depth', 'other'],
  ])('refuses the arguments %j', (args, message, field) => {
    expect(() => renderAction(file, 'ask', params, args)).toThrow(
      expect.objectContaining({ code: 'invalid', message, extra: { field } }),
    )
  })

  it('without arguments of its own refuses any', () => {
    expect(() => renderAction(file, 'look', params, { speed: 1 })).toThrow(
      'speed is not a known field; it has none',
    )
  })

  it('refuses an address that is not http', () => {
    const demo = readTemplates().get('ai_sre_demo')!
    expect(() => renderAction(demo, 'clear', { api_server_url: 'file:///etc' }, {})).toThrow(
      'action clear: its address must be an http or https address',
    )
  })
})

describe('the shipped actions', () => {
  const templates = readTemplates()

  it('inject and clear talk to the demo shop, and inject knows its faults', () => {
    const demo = templates.get('ai_sre_demo')!
    const stack = checkParams(demo, { api_server_url: 'http://demo:8080' })
    const url = 'http://demo:8080/demo/inject'
    expect(renderAction(demo, 'inject', stack, { scenario: 'latency' }).request).toEqual({
      method: 'POST',
      url,
      body: { scenario: 'latency' },
    })
    expect(renderAction(demo, 'clear', stack, {}).request).toEqual({
      method: 'POST',
      url,
      body: { scenario: 'clear' },
    })
    expect(() => renderAction(demo, 'inject', stack, { scenario: 'fire' })).toThrow(
      'scenario must be one of error_spike, latency, dependency_outage',
    )
  })

  it('the first notes are written of a repository that is watched, and of no other', () => {
    const context = templates.get('shared_code_context')!
    const repos = checkParams(context, {
      credential: 'main',
      context_repo: 'acme/notes',
      source_repos: [{ repo: 'acme/shop' }, { repo: 'acme/pay' }],
    })
    expect(renderAction(context, 'bootstrap', repos, { repo: 'acme/pay' }).run!.entity).toBe('acme/pay')
    expect(() => renderAction(context, 'bootstrap', repos, { repo: 'acme/shops' })).toThrow(
      expect.objectContaining({
        code: 'invalid',
        message: 'repo must be one of acme/shop, acme/pay (did you mean acme/shop?)',
        extra: { field: 'repo' },
      }),
    )
  })

  it('summarize runs the agent on the session', () => {
    const challenger = templates.get('challenger_workflow')!
    expect(renderAction(challenger, 'summarize', {}, { session: 's-1' })).toEqual({
      run: { agent: 'challenger_summarizer', entity: 's-1' },
    })
    expect(() => renderAction(challenger, 'summarize', {}, { session: ' ' })).toThrow(
      'the entity must not be empty',
    )
  })
})
