"""The course around the package: the notebook builder, the learner's working copy, and how JupyterLab is started.

Nothing here is needed to run an agent. Import the module you need: `agentkit.course.build`, `agentkit.course.copies`,
`agentkit.course.lab`.
"""
