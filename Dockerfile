# A crawler that is not root: docker build -t topical . && docker run -v topical:/data topical crawl demo -s VIRTUAL_WEB=sample
FROM python:3.12-slim AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements.txt ./
# With s3fs, for a store at s3://, in a version that goes with the others
RUN pip wheel --no-cache-dir --wheel-dir /wheels --requirement requirements.txt \
    && grep -oi '^[a-z0-9._-]*==[^ ;]*' requirements.txt > constraints.txt \
    && pip wheel --no-cache-dir --wheel-dir /wheels --constraint constraints.txt s3fs
COPY setup.py pyproject.toml README.md ./
COPY topics topics
COPY pipelines pipelines
COPY middlewares middlewares
COPY spiders spiders
COPY crawlproject crawlproject
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --no-compile /wheels/*.whl \
    && useradd --uid 10001 --create-home topical \
    && install --directory --owner=topical /data
USER 10001
WORKDIR /data
VOLUME /data
ENTRYPOINT ["topical", "-s", "CRAWL_METRICS_PORT=9410"]
CMD ["--help"]
# Whether the event loop of a crawl answers; other commands have no metrics, run these with --no-healthcheck.
HEALTHCHECK --start-period=30s --timeout=10s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:9410/metrics', timeout=5)"]
