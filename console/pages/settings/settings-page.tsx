/** Settings of the instance: model providers, prices, the bounds of agents, tokens of GitHub, Slack. */
import { Tabs } from '@mantine/core'
import { useSearchParams } from 'react-router'
import { PageHead } from '../../parts/page.tsx'
import { AgentLimits } from './agent-limits.tsx'
import { Credentials } from './github/credentials.tsx'
import { Prices } from './prices.tsx'
import { Providers } from './providers.tsx'
import { Slack } from './slack/slack.tsx'

const TABS = [
  { value: 'providers', label: 'Model providers' },
  { value: 'prices', label: 'Prices' },
  { value: 'agents', label: 'Agents' },
  { value: 'github', label: 'GitHub' },
  { value: 'slack', label: 'Slack' },
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
        <Tabs.Panel value="slack">
          <Slack />
        </Tabs.Panel>
      </Tabs>
    </>
  )
}
