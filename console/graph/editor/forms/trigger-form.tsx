/** The sentence of a trigger, as its page has it; whom it wakes is drawn as connections. */
import { useContext, useEffect, useState } from 'react'
import type { FieldsOf } from '../../../../schemas/fields-of.ts'
import type { Trigger } from '../../../../schemas/types.ts'
import { PlannedSources } from '../../../lib/planned-sources.ts'
import { draftOf, NEW_TRIGGER, type TriggerDraft } from '../../../lib/trigger-draft.ts'
import { faultsOf } from '../../../lib/trigger-faults.ts'
import { definitionOf, isComplete, writeOf } from '../../../lib/trigger-form.ts'
import { nameFrom } from '../../../lib/trigger-name.ts'
import { useKnownFields } from '../../../lib/use-known-fields.ts'
import { useShownFaults } from '../../../lib/use-shown-faults.ts'
import { TriggerFields } from '../../../pages/triggers/trigger-fields.tsx'
import { useBacktest } from '../../../pages/triggers/use-backtest.ts'
import { Verdict } from '../../../pages/triggers/verdict.tsx'
import type { Fields } from '../../draft/values.ts'
import type { FormProps } from './schema-form.tsx'

export function TriggerForm({ name, spec, typed, isNew, errors, onEdit }: FormProps) {
  const kept = isNew ? undefined : ({ ...spec, name } as FieldsOf<Trigger>)
  const [start] = useState<TriggerDraft>(() =>
    kept ? draftOf(kept) : { ...NEW_TRIGGER, name, sources: (spec.sources as string[] | undefined) ?? [] },
  )
  const [draft, setDraft] = useState(() => (typed ? draftOf({ ...typed, name } as FieldsOf<Trigger>) : start))
  const known = useKnownFields(draft.sources)
  const planned = useContext(PlannedSources)
  // One that is planned has no events to try it with.
  const hasEvents = !draft.sources.some((source) => planned.some(({ name: of }) => of === source))
  const definition = hasEvents && isComplete(draft) ? definitionOf(draft, kept) : null
  const trial = useBacktest(definition, null, '24h')
  const faults = useShownFaults(faultsOf(draft))
  const specOf = (of: TriggerDraft): Fields => {
    const { name: _name, emit, description, ...rest } = writeOf(of, kept)
    return {
      ...rest,
      emit: { ...emit, kind: of.emit_kind.trim() || null },
      description: description === '' ? null : description,
    }
  }
  const told = (next: TriggerDraft) =>
    onEdit({
      before: isNew ? {} : specOf(start),
      after: specOf(next),
      missing: faultsOf(next),
      propose: (taken) => nameFrom(next, taken),
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new trigger may be complete as it begins.
  useEffect(() => {
    if (isNew) told(start)
  }, [])
  // The draft goes out once it is state: several fields may be set by one act, such as the choice of a kind.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is told of what was typed, not of what is passed in.
  useEffect(() => {
    if (draft !== start) told(draft)
  }, [draft])
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens to its fields being left, and is none itself.
    <div onBlur={faults.form.onBlur}>
      <TriggerFields
        draft={draft}
        set={set}
        errors={{ ...faults.shown, ...errors }}
        known={known}
        verdict={
          trial.error || !hasEvents ? null : (
            <Verdict trial={trial} window="24h" isReady={definition !== null} />
          )
        }
      />
    </div>
  )
}
