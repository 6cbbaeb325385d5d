/** Repeats a run against its agent as it is: as of which instant, whether it counts, with what changed. */
import { Button, Group, Modal, Radio, Stack, Switch, Text, Textarea } from '@mantine/core'
import type { FormEvent } from 'react'
import { Link } from 'react-router'
import type { RerunRequest, RunDetail } from '../../../schemas/types.ts'
import { comparePath, runPath } from '../../lib/paths.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { runs } from '../../run-client.ts'

const PROMPT_MAX = 8_000
/** As the run was. */
const BEGIN = {
  asOf: 'same' as 'same' | 'now',
  practice: false,
  other: false,
  choice: { provider: '', model: '' },
}

export function RerunDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const was = typeof run.definition.prompt === 'string' ? run.definition.prompt : ''
  const kept = useDraft({ form: 'rerun', start: { ...BEGIN, prompt: was } })
  const { asOf, practice, other, prompt, choice } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const options = { quiet: true, onDone: kept.done }
  const rerun = useChange((body: RerunRequest) => runs.rerun(run.id, body), options)
  const body: RerunRequest = {
    as_of: asOf,
    practice,
    ...(other && prompt.trim() ? { prompt } : {}),
    ...(choice.provider ? { provider: choice.provider } : {}),
    ...(choice.model ? { model: choice.model } : {}),
  }
  const made = rerun.data?.run_id
  return (
    <Modal opened onClose={onClose} title={`Rerun ${run.agent} on ${run.key}`} size="lg">
      {made ? (
        <Queued from={run.id} made={made} onClose={onClose} />
      ) : (
        <Stack
          component="form"
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            rerun.mutate(body)
          }}
        >
          <DraftRestored of={kept} />
          <Radio.Group
            label="Data"
            value={asOf}
            onChange={(value) => set({ asOf: value === 'now' ? 'now' : 'same' })}
          >
            <Stack gap={6} mt={6}>
              <Radio value="same" label="As of the original run" />
              <Radio value="now" label="As of now" />
            </Stack>
          </Radio.Group>
          <Switch
            label="Practice"
            description="On: nothing is sent and the run is not counted. Off: a normal run"
            checked={practice}
            onChange={(event) => set({ practice: event.currentTarget.checked })}
          />
          <Switch
            label="Override the prompt"
            checked={other}
            onChange={(event) => set({ other: event.currentTarget.checked })}
          />
          {other && (
            <Textarea
              label="Prompt"
              value={prompt}
              onChange={(event) => set({ prompt: event.currentTarget.value })}
              autosize
              minRows={5}
              maxRows={16}
              maxLength={PROMPT_MAX}
              error={prompt.trim() === '' ? 'A prompt is required' : undefined}
            />
          )}
          <ModelPicker
            value={choice}
            onChange={(next) => set({ choice: next })}
            blank="Default: the agent’s"
          />
          <Refusal error={rerun.error} title="Couldn’t repeat the run" />
          <DialogFoot
            draft={kept}
            onClose={onClose}
            word="Rerun"
            isSending={rerun.isPending}
            isDisabled={other && prompt.trim() === ''}
          />
        </Stack>
      )}
    </Modal>
  )
}

function Queued({ from, made, onClose }: { from: string; made: string; onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm" role="status">
        The new run is queued. Both can be compared side by side.
      </Text>
      <Group>
        <Button component={Link} to={comparePath(from, made)}>
          Compare both
        </Button>
        <Button variant="default" component={Link} to={runPath(made)} onClick={onClose}>
          Go to the rerun
        </Button>
      </Group>
    </Stack>
  )
}
