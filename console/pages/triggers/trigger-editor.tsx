/** The form of a trigger: a sentence with controls in it, and beside it what it would have done. */
import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useState } from 'react'
import type { PartWritten, Trigger, TriggerWrite } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { alertFields, alertsOf } from '../../lib/alert-trigger.ts'
import { type FieldErrors, faultAt, fieldErrors } from '../../lib/field-errors.ts'
import { nameFault } from '../../lib/name-fault.ts'
import { countsEvents, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { faultsOf } from '../../lib/trigger-faults.ts'
import { definitionOf, isComplete, notifyOf, storedDefinition, writeOf } from '../../lib/trigger-form.ts'
import { nameFrom } from '../../lib/trigger-name.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useKnownFields } from '../../lib/use-known-fields.ts'
import { useShownFaults } from '../../lib/use-shown-faults.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Acts, useMay, Writable } from '../../parts/may.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Warnings, warningsBeside } from '../../parts/warnings.tsx'
import { BacktestPanel } from './backtest-panel.tsx'
import { type NewSecret, SecretsDialog, secretsIn } from './new-secrets.tsx'
import { NotifyFields, notifyFaults } from './notify-fields.tsx'
import { TriggerFields } from './trigger-fields.tsx'
import { useBacktest } from './use-backtest.ts'
import { Verdict } from './verdict.tsx'

interface Props {
  start: TriggerDraft
  /** Absent for a new one. */
  stored?: Trigger
  save: (body: TriggerWrite, version: number | undefined) => Promise<PartWritten>
  onSaved?: (result: PartWritten) => void
  /** Of the last save: saving fills the form in anew. */
  warnings?: readonly string[]
  /** Fills the form in again from what is stored now. */
  onTakeTheirs?: () => void
  label: string
  /** It is filled in with what Ask proposed. */
  isProposed?: boolean
}

/** Over a source of alerts that its address names, it begins as where the source is chosen in the form. */
export function NewTriggerEditor({ start, ...props }: Props) {
  // The form begins once: what is read again later, or fails, takes nothing away that was typed.
  const [begun, setBegun] = useState(start.sources.length > 0 && !props.isProposed ? null : start)
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources, enabled: begun === null })
  if (begun) return <TriggerEditor {...props} start={begun} />
  if (!sources.isLoading) {
    const alerts = alertsOf(start.sources, sources.data ?? [])
    setBegun(alerts ? { ...start, ...alertFields(start, alerts) } : start)
  }
  return null
}

export function TriggerEditor({ start, stored, isProposed = false, ...props }: Props) {
  const kept = useDraft({
    form: 'trigger',
    start,
    version: stored?.version,
    plain: withoutAddresses,
    isGiven: isProposed,
  })
  const { value: draft, set: setDraft } = kept
  const [window, setWindow] = useState('24h')
  const name = useName(draft, stored)
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  const { change, told } = useSave({ ...props, stored, draft, name, done: kept.done })
  const definition = isComplete(draft) ? definitionOf(draft, stored) : null
  const isChanged = JSON.stringify(definition) !== JSON.stringify(definitionOf(start, stored))
  const trial = useBacktest(definition, stored && isChanged ? storedDefinition(stored) : null, window)
  const [isNear, setNear] = useState(false)
  const known = useKnownFields(draft.sources, isNear)
  const mayChange = useMay()
  const wrongName = stored ? undefined : nameFault(name, 'trigger')
  const typed = { ...faultsOf(draft), ...notifyFaults(draft), ...(wrongName ? { name: wrongName } : {}) }
  // What a save said goes first: it is about everything, a trial only about what is evaluated.
  const found: FieldErrors = { ...typed, ...fieldErrors(trial.error), ...fieldErrors(change.error) }
  const faults = useShownFaults(found)
  const part = { draft, set, errors: faults.shown, known }
  return (
    <form
      {...faults.form}
      onFocus={() => setNear(true)}
      onPointerEnter={() => setNear(true)}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        faults.showAll()
        if (Object.keys(typed).length === 0) change.mutate(kept.version)
      }}
    >
      <div className="editor-columns">
        <Stack gap="md" style={{ minWidth: 0 }}>
          <DraftRestored of={kept} />
          <Writable>
            <TriggerFields
              {...part}
              notify={<NotifyFields {...part} stored={stored} />}
              verdict={<Verdict trial={trial} window={window} isReady={definition !== null} />}
            />
          </Writable>
          <Warnings of={warningsBeside(props.warnings, stored?.warnings)} />
          <Refusal
            error={change.error}
            faults={faults.isSubmitted ? typed : {}}
            title="Couldn’t save the trigger"
            {...(props.onTakeTheirs ? { onTakeTheirs: takeTheirs(kept, props.onTakeTheirs) } : {})}
            onKeepMine={() => change.mutate(undefined)}
          />
          <Group align="flex-start" className="sentence-end">
            {!stored && (
              <NameField
                name={name}
                fault={faultAt(faults.shown, 'name')}
                onChange={(typedName) => set('name', typedName)}
              />
            )}
            <Acts says>
              <Button type="submit" loading={change.isPending} mt={stored ? 0 : 22}>
                {props.label}
              </Button>
            </Acts>
          </Group>
        </Stack>
        <div className="editor-side">
          <BacktestPanel
            definition={definition}
            window={window}
            onWindow={setWindow}
            trial={trial}
            {...(mayChange ? numberOf(draft, set) : {})}
          />
        </div>
      </div>
      {told}
    </form>
  )
}

/** The threshold, for the panel that moves it; nothing where the condition has none. */
function numberOf(
  { kind, number, aggregate }: TriggerDraft,
  set: (field: 'number', value: string) => void,
): Pick<ComponentProps<typeof BacktestPanel>, 'number'> {
  if (kind !== 'threshold') return {}
  const isWhole = countsEvents(aggregate) && aggregate !== 'rate'
  return { number: { value: number, set: (value) => set('number', value), isWhole } }
}

/** The path of an address may be a secret, which is not kept; the name of a channel is none. */
const withoutAddresses = (draft: TriggerDraft): TriggerDraft => ({
  ...draft,
  addresses: draft.addresses.filter((typed) => typed.startsWith('#')),
})

/** As typed, or made from the sentence as long as nobody typed one. */
function useName(draft: TriggerDraft, stored: Trigger | undefined): string {
  const triggers = useQuery({
    queryKey: dkeys.triggers,
    queryFn: declared.triggers,
    enabled: stored === undefined,
  })
  if (stored) return stored.name
  const taken = (triggers.data ?? []).map((trigger) => trigger.name)
  return draft.name.trim() || nameFrom(draft, taken)
}

/** Saves the trigger with whom it notifies, in one; secrets of new addresses are shown before the page goes on. */
function useSave({
  stored,
  draft,
  name,
  done,
  save,
  onSaved,
}: Pick<Props, 'save' | 'onSaved'> & {
  stored: Trigger | undefined
  draft: TriggerDraft
  name: string
  done: () => void
}) {
  const [made, setMade] = useState<{ secrets: NewSecret[]; result: PartWritten } | null>(null)
  const change = useChange(
    (version: number | undefined) =>
      save({ ...writeOf({ ...draft, name }, stored), ...notifyOf(draft) }, version),
    {
      said: (result) => `${result.name} is saved`,
      onDone: (result) => {
        const secrets = secretsIn(result, draft.addresses)
        done()
        if (secrets.length) setMade({ secrets, result })
        else onSaved?.(result)
      },
      quiet: true,
      showsWarnings: true,
    },
  )
  const told = made && (
    <SecretsDialog
      trigger={made.result.name}
      secrets={made.secrets}
      onClose={() => {
        setMade(null)
        onSaved?.(made.result)
      }}
    />
  )
  return { change, told }
}

/** Emptied, it stays empty until it is left: then it is made from the sentence again. */
function NameField({
  name,
  fault,
  onChange,
}: {
  name: string
  fault: string | undefined
  onChange: (name: string) => void
}) {
  const [isEmptied, setEmptied] = useState(false)
  return (
    <div data-field="name" className="name-field">
      <TextInput
        label="Name"
        value={isEmptied ? '' : name}
        onChange={(event) => {
          const typed = event.currentTarget.value
          setEmptied(typed === '')
          onChange(typed)
        }}
        onBlur={() => setEmptied(false)}
        error={fault}
        maxLength={64}
      />
      <Text size="xs" c="dimmed" mt={2}>
        Made from the sentence until you type one
      </Text>
    </div>
  )
}
