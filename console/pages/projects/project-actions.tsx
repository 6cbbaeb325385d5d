/** Buttons for what a project's template can do: each asks for its arguments, if it takes any. */
import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'react-router'
import type { Project, TemplateAction } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { ConfigForm } from '../../forms/config-form.tsx'
import { isFilledIn, withChoices } from '../../lib/action-form.ts'
import { runPath } from '../../lib/paths.ts'
import { useChange } from '../../lib/use-change.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { defaultsOf } from './template-form.tsx'

export function ProjectActions({ project }: { project: Project }) {
  const isTemplated = project.template !== 'custom' && !project.default && project.status === 'active'
  const { data } = useQuery({
    queryKey: [...dkeys.templates, project.template],
    queryFn: () => declared.template(project.template),
    enabled: isTemplated,
  })
  const [chosen, setChosen] = useState<TemplateAction | null>(null)
  if (!isTemplated) return null
  return (
    <>
      {data?.actions.map((action) => (
        <Button key={action.name} variant="default" onClick={() => setChosen(action)}>
          {action.label}…
        </Button>
      ))}
      {chosen && <ActionDialog project={project} action={chosen} onClose={() => setChosen(null)} />}
    </>
  )
}

function ActionDialog({
  project,
  action,
  onClose,
}: {
  project: Project
  action: TemplateAction
  onClose: () => void
}) {
  const params = withChoices((action.params ?? {}) as Record<string, unknown>, project.params ?? {})
  const [args, setArgs] = useState(() => defaultsOf(action.params ?? {}))
  const run = useChange(() => declared.runAction(project.id, action.name, args), { quiet: true })
  return (
    <Modal opened onClose={onClose} title={action.label} centered>
      <Stack>
        {action.intro && <Text size="sm">{action.intro}</Text>}
        {action.help && (
          <Text size="sm" c="dimmed">
            {action.help}
          </Text>
        )}
        {action.params && !run.data && <ConfigForm schema={params} value={args} onChange={setArgs} />}
        {run.data && (
          <Text size="sm" role="status">
            {run.data.message}.{' '}
            {run.data.run_id && (
              <Anchor component={Link} to={runPath(run.data.run_id)} size="sm">
                Open the run
              </Anchor>
            )}
          </Text>
        )}
        <Refusal error={run.error} title="Couldn’t run the action" />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          {!run.data && (
            <Button
              loading={run.isPending}
              disabled={!isFilledIn(params, args)}
              onClick={() => run.mutate(undefined)}
            >
              {action.label}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  )
}
