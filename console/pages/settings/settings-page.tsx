/** Settings of the instance, in tabs (SPEC.md, Authentication 11; Outbound 6; Limits). */
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { PageHead } from '../../parts/page.tsx'
import { Access } from './access.tsx'
import { AgentLimits } from './agent-limits.tsx'
import { Credentials } from './github/credentials.tsx'
import { Observability } from './observability.tsx'
import { Prices } from './prices.tsx'
import { Providers } from './providers.tsx'
import { Slack } from './slack/slack.tsx'

const TABS = [
  { value: 'access', label: 'Access and API keys' },
  { value: 'providers', label: 'Model providers' },
  { value: 'github', label: 'GitHub' },
  { value: 'slack', label: 'Slack' },
  { value: 'agents', label: 'Agents' },
  { value: 'observability', label: 'Observability' },
  { value: 'prices', label: 'Prices' },
]

export default function SettingsPage() {
  const [query, setQuery] = useSearchParams()
  const asked = query.get('tab')
  const tab = TABS.some(({ value }) => value === asked) ? asked : 'providers'
  return (
    <>
      <PageHead title="Settings" />
      <Tabs
        value={tab}
        onChange={(to) => setQuery(to === 'providers' || !to ? {} : { tab: to })}
        keepMounted={false}
      >
        <Tabs.List mb="md">
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="access">
          <Access />
        </Tabs.Panel>
        <Tabs.Panel value="providers">
          <Providers />
        </Tabs.Panel>
        <Tabs.Panel value="prices">
          <Prices />
        </Tabs.Panel>
        <Tabs.Panel value="agents">
          <AgentLimits />
        </Tabs.Panel>
        <Tabs.Panel value="github">
          <Credentials />
        </Tabs.Panel>
        <Tabs.Panel value="observability">
          <Observability />
        </Tabs.Panel>
        <Tabs.Panel value="slack">
          <Slack />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
