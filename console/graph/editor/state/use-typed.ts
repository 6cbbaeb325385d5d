/**
 * What is typed into the form of a part and is not a step of the draft yet. It is kept in this browser, without secrets:
 * Escape, a click beside the panel, a reload and a window that becomes narrow close the form and lose nothing.
 */
import { useRef, useState } from 'react'
import type { Connector } from '../../../../schemas/types.ts'
import { withoutSecrets } from '../../../lib/drafts.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import type { PartKind } from '../../draft/ids.ts'
import { patchBetween, patched } from '../../draft/patch.ts'
import type { Fields } from '../../draft/values.ts'
import type { Edited } from '../forms/schema-form.tsx'
import { SPEC_SCHEMAS, useConnectors } from './specs.ts'

/** As it is kept. */
export interface Typed {
  name: string
  /** What the form was filled in with, as the form has it: from it one sees which fields were changed. */
  from: Fields
  /** As the form left it; null: its fields are as they were filled in. */
  spec: Fields | null
}

/** The form of a part that is there, by its node. */
export const formOf = (id: string): string => `edit:${id}`

/**
 * @param form told apart from others of the project; a component that shows another form has another key
 * @param spec what the form is filled in with
 */
export function useTyped(form: string, kind: PartKind, spec: Fields) {
  const connectors = useConnectors(kind === 'source')
  const [start] = useState<Typed>({ name: '', from: spec, spec: null })
  const kept = useDraft<Typed>({
    form,
    start,
    plain: (now) => ({
      ...now,
      from: plainSpec(kind, now.from, connectors),
      spec: now.spec && plainSpec(kind, now.spec, connectors),
    }),
  })
  const [found] = useState(() => movedTo(spec, kept.value))
  const [typed, setTyped] = useState(found.spec)
  /** Its fields begin anew with each. */
  const [round, setRound] = useState(0)
  const [edited, setEdited] = useState<Edited | null>(null)
  /** Forms say what they begin with by themselves; that is nobody's draft. */
  const isTouched = useRef(false)
  const touch = () => {
    isTouched.current = true
  }
  const isFound = kept.restored !== null && (found.spec !== null || found.name !== '')
  return {
    /** What is in its fields when they begin; undefined: what they are filled in with. */
    typed: typed ?? undefined,
    round,
    edited,
    name: kept.value.name,
    setName: (name: string) => kept.set((now) => ({ ...now, name })),
    onEdit: (next: Edited) => {
      setEdited(next)
      const isSame = JSON.stringify(next.after) === JSON.stringify(next.before)
      if (isTouched.current)
        kept.set((now) => ({ ...now, from: next.before, spec: isSame ? null : next.after }))
    },
    /** For the form around the fields: by these it knows that somebody is at it. */
    hands: { onInputCapture: touch, onPointerDownCapture: touch, onKeyDownCapture: touch },
    /** For `DraftRestored`. */
    restored: isFound ? kept.restored : null,
    place: kept.place,
    discard: () => {
      kept.discard()
      setTyped(null)
      setEdited(null)
      isTouched.current = false
      setRound((now) => now + 1)
    },
    /** It is a step of the draft. */
    done: kept.done,
  }
}

/**
 * What was typed on top of one spec, on top of another: somebody else changed the part meanwhile, or a draft was applied
 * and its values are those that are stored now. Fields that nobody typed into are those of the new one.
 */
function movedTo(spec: Fields, kept: Typed): Typed {
  const typed = kept.spec && patchBetween(kept.from, kept.spec)
  const moved = typed && (patched(spec, typed) as Fields)
  return { ...kept, spec: moved && patchBetween(spec, moved) && moved }
}

function plainSpec(kind: PartKind, spec: Fields, connectors: Readonly<Record<string, Connector>>): Fields {
  if (kind !== 'source') return withoutSecrets(spec, { properties: SPEC_SCHEMAS[kind].properties })
  const schema = connectors[String(spec.connector)]?.config_schema
  return { ...spec, config: withoutSecrets((spec.config ?? {}) as Fields, schema) }
}
