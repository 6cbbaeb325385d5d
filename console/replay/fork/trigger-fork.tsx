/** Another condition, filter or wait for a trigger of then: which firings would differ. */
import { Alert, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import { useMemo } from 'react'
import type { Replay, Trigger } from '../../../schemas/types.ts'
import { cooldownSentence, sentenceOf } from '../../../schemas/words.ts'
import { faultAt, fieldErrors } from '../../lib/field-errors.ts'
import { moment } from '../../lib/time.ts'
import { draftOf, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { definitionOf, isComplete } from '../../lib/trigger-form.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useKnownFields } from '../../lib/use-known-fields.ts'
import { ConditionFields, GroupBy, ReArm } from '../../pages/triggers/condition-fields.tsx'
import { FilterRows } from '../../pages/triggers/filter-rows.tsx'
import { Line } from '../../pages/triggers/line.tsx'
import { useBacktest } from '../../pages/triggers/use-backtest.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { DurationInput } from '../../parts/duration-input.tsx'
import { Mark } from '../../parts/mark.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { definitionIn } from '../then.ts'
import { forkRows, forkWords, spanOf } from '../what-if.ts'
import { ForkTable } from './fork-table.tsx'
import { TakeDraft } from './take-draft.tsx'
import { useTriggerThen } from './use-then.ts'

interface Props {
  replay: Replay
  /** Change-set of then. */
  version: number
  name: string
  onInstant: (instant: number) => void
}

export function TriggerFork({ replay, version, name, onInstant }: Props) {
  const { data, error, isPending, refetch } = useTriggerThen(name, version)
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="the trigger" error={error} onRetry={() => void refetch()} />
  if (data === null)
    return <Alert color="gray">How {name} was then is not recorded, so it cannot be changed here.</Alert>
  return <Fork replay={replay} version={version} then={data} onInstant={onInstant} />
}

function Fork({
  replay,
  version,
  then,
  onInstant,
}: Pick<Props, 'replay' | 'version' | 'onInstant'> & { /** As it was. */ then: Trigger }) {
  const kept = useDraft<TriggerDraft>({ form: `what-if:${then.name}@${version}`, start: draftOf(then) })
  const draft = kept.value
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) =>
    kept.set((now) => ({ ...now, [field]: value }))
  const definition = isComplete(draft) ? definitionOf(draft, then) : null
  const { window, to } = spanOf(replay)
  const trial = useBacktest(definition, definitionIn(then), window, { to, version })
  const rows = useMemo(
    () => (trial.data ? forkRows(trial.data, replay.moments, then.name) : []),
    [trial.data, replay.moments, then.name],
  )
  return (
    <Stack>
      <Paper withBorder p="sm" radius="md">
        <Stack gap="sm">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            <b>Original:</b> {sentenceOf({ ...then, description: '' })}. {cooldownSentence(then)}.
          </Text>
          <Text size="sm" role="status">
            <b>With the change:</b>{' '}
            {trial.data && definition ? <span>{forkWords(rows)}</span> : 'it is tried as you type.'}
          </Text>
          <DraftRestored of={kept} />
          <Changed draft={draft} set={set} error={trial.error} />
        </Stack>
      </Paper>
      <section aria-label="What would have fired">
        <Group gap="xs" mb="xs">
          <Title order={2}>What would have fired</Title>
          <Mark tone="quiet" title="Nothing is saved or sent">
            practice
          </Mark>
          {trial.isRunning && <Loader role="img" size={14} aria-label="Trying it out" />}
        </Group>
        {definition === null ? (
          <Text size="sm" c="dimmed">
            Fill in the condition first.
          </Text>
        ) : trial.error ? (
          <Alert color="red" role="alert" title="Backtest failed">
            {trial.error.message}
          </Alert>
        ) : trial.data ? (
          <Stack gap="xs">
            <Cut replay={replay} data={trial.data} />
            <ForkTable rows={rows} onInstant={onInstant} />
            {definition && (
              <TakeDraft
                project={replay.project.id}
                part={{ kind: 'trigger', name: then.name }}
                before={{ ...definitionOf(draftOf(then), then) }}
                after={{ ...definition }}
                onTaken={kept.done}
              />
            )}
          </Stack>
        ) : (
          <LoadingRows rows={2} />
        )}
      </section>
    </Stack>
  )
}

/** The condition as it would have been. */
function Changed({
  draft,
  set,
  error,
}: {
  draft: TriggerDraft
  set: <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) => void
  error: Error | null
}) {
  const known = useKnownFields(draft.sources)
  const errors = fieldErrors(error)
  return (
    <div className="sentence-form">
      <ConditionFields draft={draft} set={set} errors={errors} known={known} />
      {draft.kind !== 'schedule' && (
        <Line>
          <GroupBy draft={draft} set={set} errors={errors} known={known} />
        </Line>
      )}
      {draft.kind === 'threshold' && <ReArm draft={draft} set={set} errors={errors} />}
      <FilterRows
        title="Filters"
        rows={draft.filters}
        onChange={(filters) => set('filters', filters)}
        known={known.fields}
        errors={errors}
        path="filters"
      />
      {draft.kind !== 'schedule' && (
        <DurationInput
          label="Cooldown"
          value={draft.cooldown}
          onChange={(value) => set('cooldown', value)}
          fault={faultAt(errors, 'cooldown')}
          w={220}
        />
      )}
    </div>
  )
}

/** What the comparison does not look at. */
function Cut({
  replay,
  data,
}: {
  replay: Replay
  data: NonNullable<ReturnType<typeof useBacktest>['data']>
}) {
  const listed = [data.result, data.compare].some((run) => run && run.firings > run.list.length)
  const said = [
    data.truncated &&
      `More events than can be checked: this begins at ${moment(Date.parse(data.from), Date.now())}.`,
    data.entities_changed_at !== null &&
      `Joined entities were changed ${moment(Date.parse(data.entities_changed_at), Date.now())}: both sides are judged by those of one time.`,
    listed && 'Only the newest 500 firings of each are compared.',
    replay.gaps.some(({ kind }) => kind === 'purged') &&
      'Events of this time were removed, so that neither side sees them.',
    replay.next_from !== null &&
      'Not all of this replay is loaded: firings that are recorded later are not marked.',
  ].filter((one) => one !== false)
  if (said.length === 0) return null
  return (
    <Alert color="yellow" p="xs">
      {said.join(' ')}
    </Alert>
  )
}
