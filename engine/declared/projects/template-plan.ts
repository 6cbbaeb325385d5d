/**
 * What a template plans for given parameters: parts and their wiring, as values (SPEC.md, Ownership
 * of template-project objects: planned). Pure: the same file and parameters give the same plan, so
 * that a project can be planned again and compared.
 */
import type { TemplateFile, TemplateObject } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import type { Params } from './template-params.ts'
import { holds, isEmpty, render, renderPlain, type Scope, slug, valueAt } from './template-render.ts'

export interface PlannedObject {
  kind: TemplateObject['kind']
  /** Stable in the project: the key in the file, with the entry's own part when it is made for a list. */
  key: string
  name: string
  /** As in the catalog, without the name. */
  spec: Record<string, unknown>
}

export interface PlannedWiring {
  wakes: { trigger: string; agent: string; enabled: boolean }[]
  /** `cooldown` is a duration such as 30m. */
  handoffs: { agent: string; verdict: string; to: string; cooldown: string }[]
}

export interface TemplatePlan extends PlannedWiring {
  objects: PlannedObject[]
}

/** The name an object of a project keeps, by its kind and key, instead of what the file says. */
export type KeptNames = (kind: PlannedObject['kind'], key: string) => string | undefined

/** Wait before the same entity is handed over again when the file says none. */
const HANDOFF_COOLDOWN = '30m'

/** An object of the file for one entry of its list, before its spec is rendered. */
interface Place {
  object: TemplateObject
  /** What is appended to the key; '' without a list. */
  suffix: string
  name: string
  roots: Scope['roots']
}

/**
 * @param params as checkParams gives them.
 * @param kept names that stay; whatever refers to these objects refers to them by those names.
 * @returns objects in the order of the file, and wiring by real names; what a `when` leaves out is
 *   in neither.
 * @throws SvcError invalid: two entries of a list, or two parameters, give the same key or name.
 */
export function planTemplate(file: TemplateFile, params: Params, kept: KeptNames = noneKept): TemplatePlan {
  const places = allPlaces(file, params, kept)
  return {
    objects: planObjects(file, params, kept).map(({ planned }) => planned),
    wakes: (file.wakes ?? []).flatMap(({ trigger, agent, enabled = false }) =>
      pairs(places, trigger, agent).map(([from, to]) => ({ trigger: from, agent: to, enabled })),
    ),
    handoffs: (file.handoffs ?? []).flatMap(({ agent, verdict, to, cooldown = HANDOFF_COOLDOWN }) =>
      pairs(places, agent, to).map(([from, next]) => ({ agent: from, verdict, to: next, cooldown })),
    ),
  }
}

/** The objects of a plan, each with what it was made from. @throws SvcError invalid, as planTemplate. */
export function planObjects(
  file: TemplateFile,
  params: Params,
  kept: KeptNames = noneKept,
): { from: TemplateObject; planned: PlannedObject }[] {
  const places = allPlaces(file, params, kept)
  refuseRepeats(places)
  const names = namesIn(places)
  return places.map(({ object, suffix, name, roots }) => ({
    from: object,
    planned: {
      kind: object.kind,
      key: keyOf(object.key, suffix),
      name,
      spec: render(object.spec, { roots, names }) as Record<string, unknown>,
    },
  }))
}

/** Names of the objects of a plan by their key in the file, for what is rendered beside it. */
export function plannedNames(file: TemplateFile, params: Params, kept: KeptNames = noneKept): Scope['names'] {
  return namesIn(allPlaces(file, params, kept))
}

const allPlaces = (file: TemplateFile, params: Params, kept: KeptNames): Place[] =>
  file.objects.flatMap((object) => placesOf(object, params, kept))

function namesIn(places: readonly Place[]): Scope['names'] {
  return (key) => places.filter(({ object }) => object.key === key).map(({ name }) => name)
}

const noNames = (): readonly string[] => []
const noneKept: KeptNames = () => undefined
const keyOf = (key: string, suffix: string): string => (suffix === '' ? key : `${key}_${suffix}`)

function placesOf(object: TemplateObject, params: Params, kept: KeptNames): Place[] {
  const place = (roots: Scope['roots'], suffix: string): Place[] => {
    const scope = { roots, names: noNames }
    if (!holds(object.when, scope)) return []
    const name = kept(object.kind, keyOf(object.key, suffix)) ?? renderPlain(object.name, scope)
    return [{ object, suffix, name, roots }]
  }
  if (object.for_each === undefined) return place(params, '')
  const list = valueAt(params, object.for_each.split('.'))
  if (!Array.isArray(list)) return []
  return list.flatMap((item: unknown, index) => {
    const roots = { ...params, item, index }
    return place(roots, suffixOf(object, roots))
  })
}

/** By a field of the entry, so that another order or a removed entry leaves the other keys as they are. */
function suffixOf({ key_by: by = 'index' }: TemplateObject, roots: Scope['roots']): string {
  const value = valueAt(roots, by.split('.'))
  return isEmpty(value) ? String(roots.index) : slug(String(value))
}

/** One object is repaired by its key alone, so that no two of a plan share one, of whatever kind. */
function refuseRepeats(places: readonly Place[]): void {
  const seen = new Set<string>()
  for (const { object, suffix, name } of places) {
    const list = object.for_each === undefined ? 'params' : `params.${object.for_each}`
    const own = object.for_each === undefined ? '' : `; entries must differ in ${object.key_by ?? 'index'}`
    const key = keyOf(object.key, suffix)
    if (seen.has(key)) fail('invalid', `${list} gives two objects the key ${key}${own}`, { field: list })
    if (seen.has(`${object.kind} ${name}`))
      fail('invalid', `${list} gives two objects of kind ${object.kind} the name ${name}`, { field: list })
    seen.add(key).add(`${object.kind} ${name}`)
  }
}

/** Objects made for the same list are paired entry by entry; otherwise each with each. */
function pairs(places: readonly Place[], fromKey: string, toKey: string): [string, string][] {
  const to = places.filter(({ object }) => object.key === toKey)
  return places
    .filter(({ object }) => object.key === fromKey)
    .flatMap((one) =>
      to
        .filter((other) => {
          const isPaired = one.object.for_each !== undefined && one.object.for_each === other.object.for_each
          return !isPaired || one.roots.index === other.roots.index
        })
        .map((other): [string, string] => [one.name, other.name]),
    )
}
