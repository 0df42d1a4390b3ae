"""What a plan is made of: actions, gates, holds, and the graph of steps that they form.

`base` has `Action`, `Gate`, `Verdict` and `Hold`; `ports` the record of doors they are given;
`step` a `Step` with its `Retry` and `Stage`; `plan` the `Plan`; `secret_ref` how a secret is named
without being there; `kinds` and `form` how all of it is written as JSON and read again.
Everything else in here is one action, gate or hold, or a family of them.
"""
