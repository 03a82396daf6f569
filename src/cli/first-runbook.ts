/** The runbook that `lockstep init --runbook` writes: small, valid, and commented where a reader may wonder. */
export const firstRunbook = `# yaml-language-server: $schema=./node_modules/lockstep/schema/playbook.json
#
# A runbook is a list of calls. Lockstep makes them in this order, without a model, and keeps a record. Check this file with:
# npx lockstep check FILE. The practice.* tools act on a service that is not real, once lockstep.config.yaml says
# practice: true

name: rollback-release
description: Take a service back to its last release while one node is kept free of it.

# What a run is given. Templates read it as {inputs.node}.
inputs:
  node: { type: string, default: node-7 }
  service: { type: string, default: web }

steps:
  # The call, what undoes it if a later step fails, and how to see whether it took.
  - name: cordon
    tool: practice.cordon_node
    input: { node: '{inputs.node}' }
    compensate: { tool: practice.uncordon_node, input: { node: '{inputs.node}' } }
    verify:
      tool: practice.get_node
      input: { node: '{inputs.node}' }
      expect: result.cordoned

  # Held until somebody with the role approves, who is not the one who started the run.
  - name: rollback
    tool: practice.rollback
    input: { service: '{inputs.service}' }
    required_roles: [SRE]

  # Tried again only when the tool states that nothing was applied.
  - name: uncordon
    tool: practice.uncordon_node
    input: { node: '{inputs.node}' }
    retry: { attempts: 3, delay_seconds: 1 }
`
