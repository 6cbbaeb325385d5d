/**
 * The engine as its callers see it. The doors (HTTP, CLI, MCP) call only this interface;
 * `createEngine` runs it in process, `startEngine` in worker threads behind the same interface.
 */
import type { AgentTestCalls } from './agent-tests/calls.ts'
import type { AskCalls } from './ask/calls.ts'
import type { CredentialCalls } from './credentials/calls.ts'
import type { DeclaredCalls } from './declared/calls.ts'
import type { DemoCalls } from './demo/calls.ts'
import type { EnvironmentCalls } from './docker/environment.ts'
import type { EngineCore } from './engine.ts'
import type { EvalReportCalls } from './evals/reports.ts'
import type { ScenarioReads } from './evals/scenario-reads.ts'
import type { GraphCalls } from './graph/ports.ts'
import type { ReplayReads } from './graph/replay/call-names.ts'
import type { IncidentCalls } from './incidents/types.ts'
import type { McpToolCalls } from './mcp-tools/calls.ts'
import type { ModelCalls } from './models/calls.ts'
import type { OutboxWrites } from './outbox/calls.ts'
import type { FetchCalls } from './outbox/fetching.ts'
import type { ProposalCalls } from './proposals/proposals.ts'
import type { RunCalls } from './runs/calls.ts'
import type { SetupCalls } from './setup/calls.ts'
import type { SlackCalls } from './slack/calls.ts'
import type { TracingCalls } from './tracing/calls.ts'
import type { TriggerCalls } from './triggers/calls.ts'

/** Its calls by name, as operations make them. */
export interface EngineCalls
  extends EngineCore,
    DeclaredCalls,
    ProposalCalls,
    SetupCalls,
    TriggerCalls,
    IncidentCalls,
    OutboxWrites,
    FetchCalls,
    McpToolCalls,
    RunCalls,
    AgentTestCalls,
    ReplayReads,
    ScenarioReads,
    EvalReportCalls,
    GraphCalls,
    ModelCalls,
    EnvironmentCalls,
    CredentialCalls,
    TracingCalls,
    AskCalls,
    SlackCalls,
    DemoCalls {}
