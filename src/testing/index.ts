/** For testing playbooks and the agents held to them: a model that follows a script, and a journal in memory. */
export { loadScriptedModel, scriptedModel, type ScriptedTurn } from '../agent/scripted-model.ts'
export { MemoryJournal } from '../journal/memory/memory-journal.ts'
