/** Watches: the sources of the plan, those that are here and new ones, and the secrets they still need. */
import { PasswordInput, SegmentedControl, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Suspense, useRef, useState } from 'react'
import type { PlanWatch } from '../../../../schemas/types.ts'
import { api, keys } from '../../../client.ts'
import { lazyFrom } from '../../../lib/chunks.ts'
import { blankFaults, marksOf } from '../../../lib/field-errors.ts'
import { withWatch } from '../../../lib/plan-edit.ts'
import { parseSample } from '../../../lib/sample.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { unreadChoices } from '../../../parts/choices.tsx'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Fold, TextBlock } from '../../../parts/fold.tsx'
import { LoadingRows } from '../../../parts/states.tsx'
import type { EditedPlan } from '../use-plan.ts'
import { Card, Entry, EntryDialog, freeKey, withoutRow } from './card.tsx'

// With what draws the fields of a connector: coming later, it would move the buttons from under the pointer.
const SourceFields = lazyFrom(async () => {
  const fields = await import('../../../graph/editor/forms/source-fields.tsx')
  await fields.loadFields()
  return fields
})('SourceFields')

const NO_OBJECT = 'This is not a JSON object yet'

export function WatchesCard({ plan, problems, edit }: EditedPlan) {
  const [open, setOpen] = useState<PlanWatch | null>(null)
  const put = (watch: PlanWatch) => edit((now) => withWatch(now, watch))
  return (
    <Card
      title="Watches"
      section="watches"
      problems={problems}
      add={{ label: 'Add a source', onAdd: () => setOpen({ ...NEW, key: freeKey('w', plan.watches) }) }}
    >
      {plan.watches.map((watch) => (
        <Entry
          key={watch.key}
          name={watch.name}
          where={`watches.${watch.key}`}
          problems={problems}
          badge={watch.existing ? 'here already' : 'new'}
          sentence={watch.sentence}
          onEdit={() => setOpen(watch)}
          onRemove={() => edit((now) => ({ ...now, watches: withoutRow(now.watches, watch.key) }))}
        >
          <Secrets key={watch.connector} watch={watch} onChange={put} />
          {!watch.existing && Object.keys(watch.config).length > 0 && (
            <Fold title="Its settings">
              <TextBlock text={JSON.stringify(shown(watch), null, 2)} label="Copy: Its settings" />
            </Fold>
          )}
        </Entry>
      ))}
      {open && (
        <WatchDialog
          watch={open}
          onClose={() => setOpen(null)}
          onKeep={(watch) => {
            put(watch)
            setOpen(null)
          }}
        />
      )}
    </Card>
  )
}

const NEW: PlanWatch = {
  key: '',
  existing: false,
  name: '',
  connector: '',
  poll: null,
  config: {},
  sentence: '',
  needs: 'none',
  secrets: [],
  sample: null,
}

/** Without secrets, typed or stored. */
function openConfig(secrets: PlanWatch['secrets'], config: PlanWatch['config']): PlanWatch['config'] {
  const hidden = new Set(secrets.map(({ field }) => field))
  return Object.fromEntries(
    Object.entries(config).filter(
      ([name]) => !hidden.has(name) && !/token|secret|password|dsn|^headers$/.test(name),
    ),
  )
}

/** Typed secrets are entered below, and are no part of what is shown. */
function shown({ config, secrets, poll, sample }: PlanWatch): object {
  return {
    ...(poll ? { poll } : {}),
    ...openConfig(secrets, config),
    ...(sample ? { example_event: sample } : {}),
  }
}

/** What is required is asked for; what may be given is under a fold. Sent when the plan is applied. */
function Secrets({ watch, onChange }: { watch: PlanWatch; onChange: (watch: PlanWatch) => void }) {
  const [typed, setTyped] = useState<Record<string, string>>({})
  // One that is entered is no longer open, and stays on the page.
  const known = useRef(new Map<string, PlanWatch['secrets'][number]>())
  for (const secret of watch.secrets) known.current.set(secret.field, secret)
  const fields = [...known.current.values()]
  if (watch.existing || fields.length === 0) return null
  const input = ({ field, label, help, required }: PlanWatch['secrets'][number]) => (
    <PasswordInput
      key={field}
      label={label ?? field}
      description={help}
      required={required}
      autoComplete="off"
      value={typed[field] ?? ''}
      onChange={(event) => {
        const value = event.currentTarget.value
        setTyped((now) => ({ ...now, [field]: value }))
        onChange({ ...watch, config: { ...watch.config, [field]: value } })
      }}
    />
  )
  const [needed, optional] = [fields.filter((one) => one.required), fields.filter((one) => !one.required)]
  return (
    <Stack gap="xs" mt="xs">
      {needed.map(input)}
      {optional.length > 0 && (
        <Fold title="Credential" hint="if it asks for one">
          <Stack gap="xs">{optional.map(input)}</Stack>
        </Fold>
      )}
    </Stack>
  )
}

/** What is typed in the dialog. */
interface Kept {
  watch: PlanWatch
  sample: string
}

function WatchDialog({
  watch: start,
  onClose,
  onKeep,
}: {
  watch: PlanWatch
  onClose: () => void
  onKeep: (watch: PlanWatch) => void
}) {
  const kept = useDraft<Kept>({
    form: `plan:watch:${start.key}`,
    start: { watch: start, sample: start.sample ? JSON.stringify(start.sample, null, 2) : '' },
    plain: ({ watch: { config, ...watch }, sample }) => ({
      watch: { ...watch, config: openConfig(watch.secrets, config) },
      sample,
    }),
  })
  const { watch, sample } = kept.value
  const isRestored = kept.restored !== null
  const setWatch = (change: Partial<PlanWatch>) =>
    kept.set((now) => ({ ...now, watch: { ...now.watch, ...change } }))
  const setSample = (sample: string) => kept.set((now) => ({ ...now, sample }))
  const [found] = useState(watch)
  const begin = isRestored ? found : start
  const sources = useQuery({ queryKey: keys.sources, queryFn: api.sources })
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  /** The fields of a new one, which are loaded when they are first shown, have told how they begin. */
  const [hasFields, setHasFields] = useState(false)
  const parsed = sampleOf(sample)
  return (
    <EntryDialog
      title={start.name ? `Source ${start.name}` : 'Add a source'}
      onClose={onClose}
      onCancel={kept.discard}
      isLoading={sources.isPending || (!watch.existing && (!hasFields || connectors.isPending))}
      onKeep={() => {
        kept.done()
        onKeep({ ...watch, sample: watch.existing ? null : (parsed ?? null) })
      }}
      missing={{
        ...blankFaults(watch, watch.existing ? ['name'] : ['name', 'connector']),
        ...(watch.existing || parsed !== undefined ? {} : { sample: NO_OBJECT }),
      }}
    >
      {(shown) => (
        <>
          <DraftRestored of={kept} />
          {(sources.data?.length ?? 0) > 0 && (
            <SegmentedControl
              value={watch.existing ? 'here' : 'new'}
              onChange={(value) => setWatch({ ...NEW, key: start.key, existing: value === 'here' })}
              data={[
                { value: 'here', label: 'One that is here' },
                { value: 'new', label: 'A new one' },
              ]}
              aria-label="Which source"
            />
          )}
          {watch.existing ? (
            <Select
              label="Source"
              {...marksOf(shown)('name')}
              data={sources.data?.map(({ name }) => name) ?? []}
              value={watch.name || null}
              onChange={(name) => setWatch({ name: name ?? '' })}
              allowDeselect={false}
              searchable
              withAsterisk
              {...unreadChoices('sources', sources)}
            />
          ) : (
            <>
              <TextInput
                label="Name"
                data-autofocus
                {...marksOf(shown)('name')}
                value={watch.name}
                onChange={(event) => setWatch({ name: event.currentTarget.value })}
                maxLength={60}
                withAsterisk
              />
              <Suspense fallback={<LoadingRows rows={3} />}>
                <SourceFields
                  key={`${start.key} ${isRestored}`}
                  name={watch.name}
                  spec={{ connector: begin.connector, poll: begin.poll, config: begin.config }}
                  isNew
                  configured={[]}
                  errors={shown}
                  sample={{ text: sample, use: 'Trying the project sends this event.', set: setSample }}
                  onEdit={({ after, isOwn }) => {
                    setHasFields(true)
                    const next = (now: Kept): Kept => ({
                      ...now,
                      watch: {
                        ...now.watch,
                        connector: String(after.connector ?? ''),
                        poll: (after.poll as string | null) ?? null,
                        config: (after.config ?? {}) as PlanWatch['config'],
                      },
                    })
                    // How the fields begin nobody typed; a draft is typed as a whole.
                    if (isOwn && !isRestored) kept.begin(next)
                    else kept.set(next)
                  }}
                />
              </Suspense>
            </>
          )}
        </>
      )}
    </EntryDialog>
  )
}

/** The event that is sent when the project is tried: the first of what is pasted. @returns null for none, undefined for what is no object. */
function sampleOf(text: string): PlanWatch['sample'] | undefined {
  const payloads = parseSample(text)
  if (payloads?.length === 0) return null
  const isObject = (value: unknown) => value !== null && typeof value === 'object' && !Array.isArray(value)
  return payloads?.find(isObject) as PlanWatch['sample'] | undefined
}
