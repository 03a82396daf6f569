/** Holds AI agents to written procedures: playbooks, and the gate that enforces them. */
export { definePlaybook } from './playbook/define-playbook.ts'
export {
  Playbook,
  type PlaybookDefinition,
  type PlaybookInput,
  type PlaybookRule,
} from './playbook/playbook.ts'
export { PlaybookLoadError } from './playbook/playbook-load-error.ts'
export { PlaybookStep, type PlaybookStepDefinition } from './playbook/playbook-step.ts'
export type { Diagnostic } from './document/diagnostic.ts'
export { type ConfigDefinition, defineConfig } from './source/define-config.ts'
export { loadPlaybook } from './source/load-playbook.ts'
export { loadPolicy } from './source/load-policy.ts'
export { PolicyLoadError } from './source/policy-load-error.ts'
export { type LoadOptions, PlaybookLoader } from './source/playbook-loader.ts'
export type { KnownTool } from './playbook/program-tool.ts'

export { PlaybookEnforcer } from './tool/playbook-enforcer.ts'
export type {
  EnforcerOptions,
  FinishResult,
  ProposedCall,
  RecordedOutcome,
  RestoreOptions,
  StepSummary,
} from './tool/enforcer-options.ts'
export { EnforcementResult, EnforcementViolation } from './tool/enforcement-result.ts'
export { PlaybookPlan } from './tool/playbook-plan.ts'
export { StepExecution, type CallRecord } from './tool/step-execution.ts'
export type { CallOutcome, CallToRun } from './tool/run-call.ts'
export type { SecretResolver } from './tool/secret-resolver.ts'
export type { EnforcerSnapshot } from './tool/snapshot.ts'
export {
  tool,
  type Risk,
  type StandardInput,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from './tool/tool.ts'
export { ToolFailure } from './tool/tool-failure.ts'
export { ToolRegistry } from './tool/tool-registry.ts'

export { Agent, type AgentStream } from './agent/agent.ts'
export { agentTool, type AgentToolDefinition } from './agent/agent-tool.ts'
export type {
  AgentBudget,
  AgentMetrics,
  AgentOptions,
  AgentResult,
  AgentSnapshot,
  ResumeOptions,
  RunOptions,
} from './agent/agent-options.ts'
export type { AgentEvent } from './agent/agent-event.ts'
export type { ApprovalAnswer, ApprovalRequest } from './agent/ask-approval.ts'
export { runPlaybook, type RunPlaybookOptions } from './agent/run-playbook.ts'
export type { Person } from './agent/person.ts'
export { Interruption } from './agent/interruption.ts'
export { RunControl, type RunOrder } from './agent/run-control.ts'
export { agentWork } from './engine/agent-work.ts'
export { engineAddress, type EngineAddress } from './engine/engine-address.ts'
export { EngineClient } from './engine/engine-client.ts'
export type { Engine, EngineOrders, RunLoader, RunRest, RunWork, Seat, VoteAnswer } from './engine/engine.ts'
export { EmbeddedEngine, type EmbeddedEngineOptions } from './engine/embedded/embedded-engine.ts'
export { openEngine, type OpenEngine, type OpenEngineOptions } from './engine/embedded/open-engine.ts'
export { guard, type Guard, type GuardOptions } from './agent/guard.ts'
export type { AgentHook, HookedCall } from './agent/hook.ts'
export { PlaybookEnforcerHook, type PlaybookEnforcerHookOptions } from './agent/playbook-enforcer-hook.ts'
export { priceLists, type Price, type PriceList, type PriceTable } from './agent/price-table.ts'
export { createMcpTools, type McpTools, type McpToolsOptions } from './adapter/mcp/create-mcp-tools.ts'
export type { McpServerConfig, McpServers } from './adapter/mcp/server-config.ts'
export { type CallLedger, type LedgerCounts, type LedgerQuestion } from './journal/call-ledger.ts'
export { type Checkpoint } from './journal/chain-checkpoint.ts'
export { type KeyRing, openKeyRing, rotateKeys } from './journal/chain-keys.ts'
export { type AdministerOptions, type ChainStore, type Credential } from './journal/chain-store.ts'
export { exportChains, type ExportOptions } from './journal/export-chains.ts'
export { FileJournal } from './journal/file/file-journal.ts'
export type {
  AppendOptions,
  Journal,
  JournalEntry,
  JournalFact,
  LeasedJournal,
  Release,
  Reservation,
} from './journal/journal.ts'
export { SqliteJournal } from './journal/sqlite/sqlite-journal.ts'
export type { Verdict } from './proof/verdict.ts'
export { verifyExport, type VerifyOptions } from './proof/verify-export.ts'

export type { CompiledPolicy } from './policy/compile-policy.ts'
export { decide as decidePolicy } from './policy/decide.ts'
export type { ApprovalDemand, PolicyDecision } from './policy/decision.ts'
export { explain as explainPolicy, type Explanation } from './policy/explain.ts'
export type { PolicyFacts, PolicyRequest, Principal } from './policy/policy-request.ts'
export type { PolicySetup } from './tool/policy-guard.ts'
export type { ApprovalVote } from './run/approval.ts'

export type { Program, Procedure, Step } from './playbook/program.ts'
export { compilePlaybook, type CompiledPlaybook } from './playbook/compile-playbook.ts'
export { advance } from './run/advance.ts'
export { decide } from './run/decide.ts'
export { begin, evolve } from './run/evolve.ts'
export { passTime, perform, replay, startRun, type Performance, type RunStart } from './run/perform.ts'
export type { DenialCode } from './run/denial-code.ts'
export type { Limit, RunEnd, RunEvent } from './run/event.ts'
export type { FoundOut } from './run/found-out.ts'
export type { Facts, RunRequest } from './run/request.ts'
export type { RunState } from './run/state.ts'
export { StepStatus } from './run/step-status.ts'
export type { Outcome, TicketState } from './run/ticket.ts'

export type { ErrorCode } from './shared/error-code.ts'
export type { Json, JsonObject } from './shared/json.ts'
export type { JsonSchema } from './shared/json-schema.ts'
export { LockstepError, type Consequence } from './shared/lockstep-error.ts'
