/** Repeats a run against its agent as it is: as of which instant, whether it counts, with what changed. */
import { Button, Group, Modal, Radio, Stack, Switch, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { Link } from 'react-router'
import type { RerunRequest, RunDetail } from '../../../schemas/types.ts'
import { comparePath, runPath } from '../../lib/paths.ts'
import { useChange } from '../../lib/use-change.ts'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { runs } from '../../run-client.ts'

const PROMPT_MAX = 8_000

export function RerunDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const was = typeof run.definition.prompt === 'string' ? run.definition.prompt : ''
  const [asOf, setAsOf] = useState<'same' | 'now'>('same')
  const [practice, setPractice] = useState(false)
  const [other, setOther] = useState(false)
  const [prompt, setPrompt] = useState(was)
  const [choice, setChoice] = useState({ provider: '', model: '' })
  const rerun = useChange((body: RerunRequest) => runs.rerun(run.id, body), { quiet: true })
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
        <Stack>
          <Radio.Group
            label="Data"
            value={asOf}
            onChange={(value) => setAsOf(value === 'now' ? 'now' : 'same')}
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
            onChange={(event) => setPractice(event.currentTarget.checked)}
          />
          <Switch
            label="Override the prompt"
            checked={other}
            onChange={(event) => setOther(event.currentTarget.checked)}
          />
          {other && (
            <Textarea
              label="Prompt"
              value={prompt}
              onChange={(event) => setPrompt(event.currentTarget.value)}
              autosize
              minRows={5}
              maxRows={16}
              maxLength={PROMPT_MAX}
              error={prompt.trim() === '' ? 'A prompt is required' : undefined}
            />
          )}
          <ModelPicker value={choice} onChange={setChoice} blank="Default: the agent’s" />
          <Refusal error={rerun.error} title="Couldn’t repeat the run" />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              loading={rerun.isPending}
              disabled={other && prompt.trim() === ''}
              onClick={() => rerun.mutate(body)}
            >
              Rerun
            </Button>
          </Group>
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
