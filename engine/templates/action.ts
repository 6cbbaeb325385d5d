/** Actions of projects (SPEC.md, POST /api/projects/{id}/actions/{name}): what to do, not doing it. */
import type { FieldsOf } from '../../schemas/fields-of.ts'
import type { TemplateAction, TemplateFile, TemplateParams } from '../../schemas/types.ts'
import { fail } from '../errors.ts'
import { objectFaults } from './param-value.ts'
import type { Params } from './params.ts'
import { type KeptNames, plannedNames } from './plan.ts'
import { isEmpty, render, renderPlain, type Scope } from './render.ts'

/** An HTTP call or an agent's run; which of them is in the file. */
export interface RenderedAction {
  request?: { method: 'POST' | 'GET' | 'DELETE'; url: string; body?: Record<string, unknown> }
  run?: { agent: string; entity: string }
}

/** @throws SvcError not_found, naming the actions there are. */
export function actionOf(file: TemplateFile, name: string): TemplateAction {
  const actions = file.actions ?? []
  const list = actions.map((action) => action.name).join(', ') || 'none'
  return (
    actions.find((action) => action.name === name) ??
    fail('not_found', `the template ${file.key} has no action ${name}; there are ${list}`)
  )
}

/**
 * @param params of the project, as they are stored.
 * @param kept names of the project's objects, where they are not those of the file.
 * @param args of the call; checked against the action's schema, absent ones take their defaults.
 * @throws SvcError not_found: no such action; invalid: an argument, or an address that is not one.
 */
export function renderAction(
  file: TemplateFile,
  name: string,
  params: Params,
  args: Params,
  kept?: KeptNames,
): RenderedAction {
  const action = actionOf(file, name)
  const scope: Scope = {
    roots: { ...params, args: checkArgs(action, args) },
    names: plannedNames(file, params, kept),
  }
  if (action.run) {
    const run = { agent: renderPlain(action.run.agent, scope), entity: renderPlain(action.run.entity, scope) }
    if (run.agent === '') fail('invalid', `action ${name}: its agent is not part of this project`)
    if (run.entity.trim() === '') fail('invalid', `action ${name}: the entity must not be empty`)
    return { run }
  }
  return action.request ? { request: requestOf(action.request, name, scope) } : {}
}

function requestOf(
  { method, url, body }: NonNullable<TemplateAction['request']>,
  name: string,
  scope: Scope,
) {
  // What a caller gives is one part of the address; it cannot lead to another.
  const address = renderPlain(url, scope, (value, root) =>
    root === 'args' ? encodeURIComponent(value) : value,
  )
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    fail(
      'invalid',
      `action ${name}: its address must be an http or https address; check the project's parameters`,
    )
  return {
    method,
    url: address,
    ...(body === undefined ? {} : { body: render(body, scope) as Record<string, unknown> }),
  }
}

function checkArgs(action: TemplateAction, given: Params): Params {
  const rules = (action.params ?? { properties: {} }) as FieldsOf<TemplateParams>
  const args: Params = Object.fromEntries(Object.entries(given).filter(([, value]) => !isEmpty(value)))
  for (const [field, { default: standard }] of Object.entries(rules.properties))
    if (args[field] === undefined && !isEmpty(standard)) args[field] = standard
  const [fault] = objectFaults(rules, args, 'args')
  if (fault !== undefined) {
    // The body of the call is the arguments, so that its fields are named as they were sent.
    const sentence = fault.replace(/^args\./, '')
    fail('invalid', sentence, { field: /^[\w.[\]]+/.exec(sentence)![0] })
  }
  return args
}
