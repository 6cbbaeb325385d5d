/** The plan of a draft: its cards, each with its problems, what will be made, and an instruction to change it. */
import {
  Alert,
  Button,
  Grid,
  Group,
  List,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import type { Plan, PlannedChange, PlanProblem, Setup } from '../../../schemas/types.ts'
import { problemWords } from '../../lib/plan-problems.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { NoModel, useHasModel } from '../../parts/no-model.tsx'
import { PlanBacktestSection } from '../../parts/plan-backtest.tsx'
import { ChangedObjects } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Warnings } from '../../parts/warnings.tsx'
import { setups, skeys } from '../../setup-client.ts'
import { AgentsCard } from './cards/agents-card.tsx'
import { KnowHowCard } from './cards/know-how-card.tsx'
import { ToolsCard } from './cards/tools-card.tsx'
import { WakesCard } from './cards/wakes-card.tsx'
import { WatchesCard } from './cards/watches-card.tsx'
import { type EditedPlan, usePlan } from './use-plan.ts'

export function PlanEditor({ setup, plan: given }: { setup: Setup; plan: Plan }) {
  const edited = usePlan(setup, given)
  const { plan, problems, edit } = edited
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Stack>
          {edited.newer && <Newer edited={edited} />}
          {plan.summary && (
            <Text style={{ overflowWrap: 'anywhere' }} data-testid="summary">
              {plan.summary}
            </Text>
          )}
          {plan.notes.length > 0 && (
            <Alert color="indigo" title="Good to know">
              <List size="sm">
                {plan.notes.map((note) => (
                  <List.Item key={note}>{note}</List.Item>
                ))}
              </List>
            </Alert>
          )}
          <TextInput
            label="Name of the project"
            value={plan.name}
            onChange={(event) => {
              const name = event.currentTarget.value
              edit((now) => ({ ...now, name }))
            }}
            maxLength={80}
            error={planFault(problems)}
          />
          <WatchesCard {...edited} />
          <WakesCard {...edited} />
          <AgentsCard {...edited} />
          <KnowHowCard {...edited} />
          <ToolsCard {...edited} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <Stack className="setup-aside">
          <ApplyPanel setup={setup} edited={edited} />
          <Instruct setup={setup} edited={edited} />
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

function Newer({ edited: { takeTheirs, keepMine } }: { edited: EditedPlan }) {
  return (
    <Alert
      color="red"
      role="alert"
      icon={<CircleAlert size={18} aria-hidden />}
      title="The plan was changed in another tab, or by somebody else"
    >
      <Stack gap="xs">
        <Text size="sm">What you see here is older, and is not kept until you choose.</Text>
        <Group>
          <Button size="xs" variant="default" onClick={takeTheirs}>
            Take theirs
          </Button>
          <Button size="xs" color="red" onClick={keepMine}>
            Keep mine
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

/** What was refused of another version is not said of this one. */
const isOf = (version: number, { variables }: { variables: number | undefined }): boolean =>
  variables === version

const planFault = (problems: readonly PlanProblem[]): string | undefined =>
  problems
    .filter(({ where }) => where === 'plan')
    .map(({ message }) => problemWords(message))
    .join(' ') || undefined

function ApplyPanel({ setup, edited }: { setup: Setup; edited: EditedPlan }) {
  const queries = useQueryClient()
  const { plan, problems, changes, isChecking, error, newer } = edited
  const apply = useChange((version: number) => setups.apply(setup.project, plan, version), {
    said: ({ project }) => `${project.name} is set up`,
    onDone: ({ connect }) => queries.setQueryData(skeys.once(setup.project), connect),
    quiet: true,
  })
  const refused = isOf(edited.version, apply) ? apply.error : null
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="What will be made">
      <Stack gap="sm">
        <Title order={2}>What will be made</Title>
        {problems.length > 0 ? (
          <Text size="sm" role="status">
            {problems.length === 1 ? 'One thing has' : `${problems.length} things have`} to be fixed first.
            Each is shown on its card.
          </Text>
        ) : (
          changes && (
            <>
              <ChangedObjects changes={changes.changes.flatMap(madeOf)} />
              <Warnings of={changes.warnings} />
              {plan.who === 'svc' && (
                <NoModel so="Triggers fire and open incidents; agents run once one is added." />
              )}
              <PlanBacktestSection
                key={JSON.stringify(plan)}
                change={{ plan: { ...plan }, project: setup.project }}
              />
            </>
          )
        )}
        <Refusal
          error={newer ? null : (refused ?? error)}
          {...(refused ? { title: 'Couldn’t apply the plan' } : {})}
        />
        <Button
          size="md"
          loading={apply.isPending}
          disabled={problems.length > 0 || isChecking || newer !== null}
          onClick={() => apply.mutate(edited.version)}
        >
          Apply the plan
        </Button>
        <Text size="xs" c="dimmed">
          Everything is made at once, or nothing. Undo under Changes.
        </Text>
      </Stack>
    </Paper>
  )
}

/** The draft becomes the project: of its own fields nothing more needs to be said. */
const madeOf = (change: PlannedChange): PlannedChange[] => {
  if (change.action === 'none') return []
  return [change.kind === 'project' ? { ...change, action: 'create', fields: [] } : change]
}

function Instruct({ setup, edited: { plan, version, newer } }: { setup: Setup; edited: EditedPlan }) {
  const hasModel = useHasModel()
  const { planning } = setup
  const kept = useDraft({
    form: 'instruction',
    // One that did not come through is there to be changed.
    start: planning && planning.state !== 'done' ? (planning.instruction ?? '') : '',
  })
  const instruction = kept.value
  const change = useChange(
    (seen: number) =>
      setups.replan(setup.project, { instruction: instruction.trim(), plan: { ...plan } }, seen),
    { quiet: true, onDone: kept.done },
  )
  // A model writes the change.
  if (hasModel === false) return null
  return (
    <Paper withBorder p="md" radius="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate(version)
        }}
      >
        <Stack gap="sm">
          <Textarea
            label="Change the plan"
            description="Describe the change; the rest stays"
            placeholder="Only wake at night, and after ten errors"
            value={instruction}
            onChange={(event) => kept.set(event.currentTarget.value)}
            maxLength={2_000}
            autosize
            minRows={2}
          />
          <Refusal error={isOf(version, change) ? change.error : null} title="Couldn’t change the plan" />
          <Group>
            <Button
              type="submit"
              variant="default"
              loading={change.isPending}
              disabled={instruction.trim() === '' || newer !== null}
            >
              Change it
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}
