/** What a template leaves to be done by hand: the steps, with addresses and commands that are ready to be used. */
import { Anchor, Code, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import type { Project, Source, Template } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { partPath } from '../../lib/fields.ts'
import { KEY, OWN_WAYS } from '../../lib/send-ways.ts'
import { fillStep, stepCommand } from '../../lib/step-command.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Mark } from '../../parts/mark.tsx'
import { AddModel, useHasModel } from '../../parts/no-model.tsx'
import { Section } from '../../parts/section.tsx'

interface StepsProps {
  template: Pick<Template, 'setup' | 'guide'>
  params: Record<string, unknown>
  /** Once it is made: its sources have addresses, and keys that were told with it. */
  project?: Project
}

export function SetupSteps({ template: { setup, guide }, params, project }: StepsProps) {
  return (
    <Stack gap="xs">
      <List type="ordered" size="sm" spacing="sm" withPadding>
        {setup.map((step) => (
          <List.Item key={step.title}>
            <Step step={step} params={params} project={project} />
          </List.Item>
        ))}
      </List>
      {guide && (
        <Anchor href={guide.url} target="_blank" rel="noreferrer" size="sm">
          {guide.label}
        </Anchor>
      )}
    </Stack>
  )
}

/** Of a project that a template made; of any other nothing. */
export function StepsOf({ project, title }: { project: Project; title: string }) {
  const { data: template } = useTemplateOf(project)
  if (!template?.setup.length) return null
  return (
    <Section title={title}>
      <SetupSteps template={template} params={project.params} project={project} />
    </Section>
  )
}

/** The template that a project was made of. */
export const useTemplateOf = (project: Project) =>
  useQuery({
    queryKey: ['templates', project.template],
    queryFn: () => declared.template(project.template),
    enabled: project.template !== 'custom' && !project.default,
  })

interface StepProps {
  step: Template['setup'][number]
  params: Record<string, unknown>
  project: Project | undefined
}

function Step({ step: { title, text, command, source: key, check }, params, project }: StepProps) {
  const name = project?.objects.find((part) => part.kind === 'source' && part.key === key)?.name
  const { data: source } = useQuery({
    queryKey: keys.source(name ?? ''),
    queryFn: () => api.source(name!),
    enabled: name !== undefined,
    refetchInterval: ({ state }) => (state.data?.health.last_ingest === null ? 3_000 : false),
  })
  const hasModel = useHasModel()
  const isDone = check === 'provider' ? hasModel : source && source.health.last_ingest !== null
  return (
    <>
      <Text size="sm" fw={600} component="div">
        {title} {isDone && <Mark tone="good">done</Mark>}
      </Text>
      {text && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {check === 'provider' && hasModel === false ? <AddModel /> : fillStep(text, params)}
        </Text>
      )}
      {command && !command.includes('$INGEST_KEY') && (
        <CopyBlock value={fillStep(command, params)} label={`Copy the command of: ${title}`} />
      )}
      {source && (
        <SendTo
          source={source}
          title={title}
          {...(command?.includes('$INGEST_KEY') ? { command } : {})}
          params={params}
          token={project?.ingest_keys?.find((made) => made.source === source.name)?.key.secret}
        />
      )}
    </>
  )
}

interface SendToProps {
  source: Source
  title: string
  /** That sends it an event. */
  command?: string
  params: Record<string, unknown>
  /** Its key, where it has just been made. */
  token: string | undefined
}

function SendTo({ source, title, command, params, token: told }: SendToProps) {
  const { data: capabilities } = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const { ingest_key: ingestKey, name, connector } = source
  if (!capabilities) return null
  const token = told ?? (capabilities.auth_required && !source.signed ? KEY : null)
  const { origin } = window.location
  return (
    <Stack gap={6} mt={4}>
      {ingestKey && !OWN_WAYS.has(connector) && (
        <CopyBlock value={`${origin}/ingest/${ingestKey}`} label={`Copy the address of ${name}`} />
      )}
      {ingestKey && command && (
        <CopyBlock
          value={stepCommand(command, { params, origin, ingestKey, token })}
          label={`Copy the command of: ${title}`}
        />
      )}
      <Text size="sm" c="dimmed">
        {token === KEY && ingestKey && (
          <>
            Senders need a key with the scope ingest
            {command && (
              <>
                , in place of <Code>{KEY}</Code>
              </>
            )}
            ; <Link to="/settings?tab=access">API keys</Link> makes one.{' '}
          </>
        )}
        <Link to={partPath('source', name)}>More ways to send to {name}</Link>
      </Text>
    </Stack>
  )
}
