/** The fields of a trigger, as its page has them, and the kind of its firings. */

import { Alert, Stack, Text, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { FieldsOf } from '../../../../schemas/fields-of.ts'
import type { Trigger } from '../../../../schemas/types.ts'
import { sentenceOf } from '../../../../schemas/words.ts'
import { faultAt } from '../../../lib/field-errors.ts'
import { draftOf, NEW_TRIGGER, type TriggerDraft } from '../../../lib/trigger-draft.ts'
import { definitionOf, isComplete, writeOf } from '../../../lib/trigger-form.ts'
import { useKnownFields } from '../../../lib/use-known-fields.ts'
import { TriggerFields } from '../../../pages/triggers/trigger-fields.tsx'
import type { Fields } from '../../draft/values.ts'
import type { FormProps } from './schema-form.tsx'

export function TriggerForm({ name, spec, isNew, errors, onEdit }: FormProps) {
  const kept = isNew ? undefined : ({ ...spec, name } as FieldsOf<Trigger>)
  const [start] = useState<TriggerDraft>(() =>
    kept ? draftOf(kept) : { ...NEW_TRIGGER, name, sources: (spec.sources as string[] | undefined) ?? [] },
  )
  const [draft, setDraft] = useState(start)
  const [emitKind, setEmitKind] = useState(kept?.emit?.kind ?? '')
  const known = useKnownFields(draft.sources)
  const specOf = (of: TriggerDraft, emitted: string): Fields => {
    const { name: _name, emit, description, ...rest } = writeOf(of, kept)
    return {
      ...rest,
      emit: { ...emit, kind: emitted.trim() || null },
      description: description === '' ? null : description,
    }
  }
  const told = (next: TriggerDraft, emitted: string) =>
    onEdit({
      before: isNew ? {} : specOf(start, kept?.emit?.kind ?? ''),
      after: specOf(next, emitted),
      isComplete: isComplete(next),
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new trigger may be complete as it begins.
  useEffect(() => {
    if (isNew) told(start, '')
  }, [])
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) => {
    const next = { ...draft, [field]: value }
    setDraft(next)
    told(next, emitKind)
  }
  return (
    <Stack gap="md">
      <Alert color="indigo" className="sentence">
        <Text fw={600} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {sentenceOf({ ...definitionOf(draft, kept), description: draft.description.trim() })}.
        </Text>
      </Alert>
      <TriggerFields draft={draft} set={set} errors={errors} known={known} />
      <TextInput
        label="Kind of its firings"
        description="Default: the name of the trigger"
        value={emitKind}
        onChange={(event) => {
          setEmitKind(event.currentTarget.value)
          told(draft, event.currentTarget.value)
        }}
        error={faultAt(errors, 'emit.kind')}
        maxLength={80}
      />
    </Stack>
  )
}
